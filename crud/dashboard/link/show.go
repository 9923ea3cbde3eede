package link

import (
	"html/template"
	"net/http"
	"slices"

	"golang.org/x/sync/errgroup"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/embed"
	"lodestone/crud/recipient"
	"lodestone/crud/view"
	"lodestone/pkg/chart"
)

// Questions about a link.
const (
	byTime     = "time"
	bySource   = "source"
	byCampaign = "campaign"
	byReferrer = "referrer"
)

var totalMetrics = frame.FunnelMetrics()

// figuresOf are the numbers at the top. Confirmed addresses are among them where addresses are
// confirmed.
func figuresOf(totals frame.Row) []string {
	list := []string{"visitors", "submissions", "verified", "people", "people_finished", "people_downloaded"}
	if !totals.Confirms() {
		list = slices.Delete(list, 2, 3)
	}
	return list
}

// sourceMetrics are the numbers of a source.
var sourceMetrics = []string{"visitors", "submissions", "submission_rate", "people", "people_finish_rate"}

// readerFilters are the filters of readers that its submissions do not take.
func readerFilters() []string {
	return slices.DeleteFunc(frame.PeopleFilters(), func(name string) bool { return name == frame.ByAnswer })
}

// forms are those of the screen that were sent and refused.
type forms struct {
	refused string // why an action without fields was refused
}

type showData struct {
	Link       *genericLink
	Self       string
	Note       string // what was just done
	Refused    string // why something was not done
	Tag        string
	Headlines  *headlines // nil: the page has one
	Headline   frame.Sentence
	Light      light
	Figures    []frame.Figure
	Chart      template.HTML
	Sources    []sourceTable
	Recipients *recipient.Counts // nil: the session may not see people
	List       *submissionList   // nil: the session may not see addresses
	Magnet     string            // address of the lead magnet's screen
	Unfollowed string            // filters that the submissions do not follow
}

type sourceTable struct {
	Title, Name string
	Metrics     []frame.Figure
	Rows        []sourceRow
}

type sourceRow struct {
	Name    string
	URL     string // of the people behind it; "" of the rest
	Numbers []frame.Figure
}

// open shows a link.
func (s *Screens) open(v *frame.Visit) error { return s.draw(v, http.StatusOK, forms{}) }

func (s *Screens) draw(v *frame.Visit, status int, sent forms) error {
	if err := v.Narrow(view.Link, append(slices.Clone(submissionFilters), readerFilters()...)...); err != nil {
		return missing(err)
	}
	var (
		group   errgroup.Group
		l       genericLink
		answers frame.Batch
		list    *submissionList
		invited *recipient.Counts
		e       embed.State
		h       *headlines
	)
	group.Go(func() (err error) {
		e, err = readEmbed(v)
		return err
	})
	group.Go(func() (err error) {
		if l, err = frame.Get[genericLink](v, path(v), nil); err != nil {
			return err
		}
		if l.HeadlineB != nil {
			if h, err = compareHeadlines(v); err != nil {
				return err
			}
		}
		if v.MaySeePeople() {
			list, err = listSubmissions(v, l.Fields)
		}
		return err
	})
	group.Go(func() (err error) {
		only := map[string][]any{"generic_link_id": {v.R.PathValue("id")}}
		answers, err = v.Ask(
			frame.Query{ID: byTime, Metrics: totalMetrics, Interval: v.Period.Interval(), Filters: only},
			frame.Query{ID: bySource, Metrics: sourceMetrics, Dimensions: []string{"utm_source"}, Filters: only, Limit: 10},
			frame.Query{ID: byCampaign, Metrics: sourceMetrics, Dimensions: []string{"utm_campaign"}, Filters: only, Limit: 10},
			frame.Query{ID: byReferrer, Metrics: sourceMetrics, Dimensions: []string{"referrer_host"}, Filters: only, Limit: 10},
		)
		return err
	})
	if v.MaySeePeople() {
		group.Go(func() error {
			counts, err := frame.Get[recipient.Counts](v, path(v)+"/recipients/counts", nil)
			invited = &counts
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return missing(err)
	}
	return v.ShowStatus(s.show, status, frame.Screen{
		Title: l.Name(), Nav: frame.Links, AsOf: answers.AsOf, Bots: answers.Bots, Periods: true,
		Data: newShown(v, &l, answers, list, lightOf(v, &e), h, sent, invited),
	})
}

func newShown(v *frame.Visit, l *genericLink, answers frame.Batch, list *submissionList,
	works light, split *headlines, sent forms, invited *recipient.Counts) showData {
	all := answers.Of(byTime)
	d := showData{
		Link: l, Self: self(v), Headline: headline(v, all.Totals), Light: works, List: list, Tag: l.tag(v), Headlines: split,
		Refused: sent.refused, Recipients: invited, Magnet: v.Document(l.LeadMagnetID),
	}
	for _, metric := range figuresOf(all.Totals) {
		f := v.Figure(all.Totals, metric)
		f.URL = behind(v, l.ID, metric)
		d.Figures = append(d.Figures, f)
	}
	if v.Counts("visitors") {
		d.Chart = chart.Figure(courseOf(v, all))
	}
	d.Unfollowed = v.NamesOf(readerFilters()...)
	for _, t := range []sourceTable{{Title: v.Say("link.sources"), Name: "utm_source"},
		{Title: v.Say("magnet.by.campaign"), Name: "utm_campaign"}, {Title: v.Say("link.sites"), Name: "referrer_host"}} {
		id := map[string]string{"utm_source": bySource, "utm_campaign": byCampaign, "referrer_host": byReferrer}[t.Name]
		if t = sourcesOf(v, l.ID, answers.Of(id), t); len(t.Rows) > 0 {
			d.Sources = append(d.Sources, t)
		}
	}
	q := v.R.URL.Query()
	for done, key := range map[string]string{"created": "link.created", "saved": "link.saved",
		"archived": "link.archived", "back": "link.back"} {
		if q.Has(done) {
			d.Note = v.Say(key)
		}
	}
	return d
}

// behind returns the address of the people behind a number of a link: its submissions on this
// screen, or its readers; "" for visitors, who are not known.
func behind(v *frame.Visit, id, metric string) string {
	switch metric {
	case "visitors":
		return ""
	case "submissions", "verified":
		return "#submissions"
	case "people_finished":
		return v.People("generic_link_id", id, "finished", "true")
	case "people_downloaded":
		return v.People("generic_link_id", id, "downloaded", "true")
	default:
		return v.People("generic_link_id", id)
	}
}

// headline says how many sent the form.
func headline(v *frame.Visit, totals frame.Row) frame.Sentence {
	if !v.Counts("submissions") {
		readers := v.Figure(totals, "people")
		return v.Sentence("overview.headline", "n", int64(readers.Value), "readers", &readers, "period", v.Period.Words())
	}
	sent, rate, visitors := v.Figure(totals, "submissions"), v.Figure(totals, "submission_rate"),
		v.Figure(totals, "visitors")
	headline := v.Sentence("link.headline", "n", int64(sent.Value), "forms", &sent, "period", v.Period.Words())
	if sent.Value > visitors.Value {
		return headline.Then(v.Sentence("link.headline.more", "n", int64(visitors.Value), "visitors", &visitors))
	}
	if visitors.Value > 0 {
		headline = headline.Then(v.Sentence("link.headline.of", "n", int64(visitors.Value), "rate",
			&rate, "visitors", &visitors))
	}
	return headline
}

// courseOf draws visitors and forms over time.
func courseOf(v *frame.Visit, a frame.Answer) chart.Line {
	visitors, _ := a.Series("visitors")
	submissions, _ := a.Series("submissions")
	return chart.Line{
		Title: v.Period.By(v.Say("link.course.title")), Labels: a.Times(v.Period), Step: v.Period.Interval(),
		First: a.First(v.Period), Partial: a.Unfinished(),
		Series: []chart.Series{
			{Name: v.Short("visitors"), Metric: "visitors", Values: visitors, Kind: chart.Second},
			{Name: v.Short("submissions"), Metric: "submissions", Values: submissions},
		},
	}
}

func sourcesOf(v *frame.Visit, link string, a frame.Answer, t sourceTable) sourceTable {
	dimension := t.Name
	metrics := slices.DeleteFunc(slices.Clone(sourceMetrics), func(m string) bool { return !v.Counts(m) })
	for _, metric := range metrics {
		t.Metrics = append(t.Metrics, v.Figure(a.Totals, metric))
	}
	for _, r := range a.Rows {
		row := sourceRow{Name: r.Text(dimension)}
		if !r.Is("other") {
			filter, value := frame.Source(dimension, row.Name)
			row.URL = v.People("generic_link_id", link, filter, value)
		}
		switch {
		case r.Is("other"):
			row.Name = v.Say("link.sources.others")
		case row.Name == "" && dimension == "utm_source":
			row.Name = v.Say("link.sources.no_source")
		case row.Name == "" && dimension == "utm_campaign":
			row.Name = v.Say("magnet.by.campaign.none")
		case row.Name == "":
			row.Name = v.Say("link.sources.no_site")
		}
		for _, metric := range metrics {
			f := v.Figure(r, metric)
			f.Before = chart.Gap()
			row.Numbers = append(row.Numbers, f)
		}
		t.Rows = append(t.Rows, row)
	}
	t.Name = v.Say(map[string]string{"utm_source": "filter.utm_source", "utm_campaign": "filter.utm_campaign",
		"referrer_host": "link.sources.site"}[dimension])
	return t
}
