package dashboard

import (
	"html/template"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/magnet"
	"lodestone/crud/view"
	"lodestone/pkg/chart"
	"lodestone/pkg/client"
	"lodestone/pkg/timezone"
)

// magnetData is the screen of a lead magnet.
type magnetData struct {
	Magnet     client.LeadMagnet
	Pages      int
	Unshown    string // what readers' browsers could not show of it
	Headline   frame.Sentence
	Tiles      []tile
	Days       template.HTML // table behind the tiles, if no one read: else the course has it
	Published  bool          // it was just now: show what to do with it
	Links      []linkRow
	MoreLinks  int64 // landing pages that are not listed here, but at AllLinks
	AllLinks   string
	Funnel     template.HTML
	Formless   frame.Figure // people who came without a form
	MoreForms  bool         // more forms were sent than visitors were counted
	MorePeople bool         // more people read by a form's link than forms were sent
	Stopped    string       // people who opened it and did not finish
	Finished   string       // people who did
	Curve      template.HTML
	Pictures   []pagePicture // of the pages of the curve
	Version    string
	Versions   []versionRow // to choose the one of the curve; of one version none
	Course     template.HTML
	Breakdown  []breakdown
	Times      template.HTML
	Returns    template.HTML
	Self       string
	Empty      bool // no one read it in the period
}

// maxLandings is how many landing pages the screen lists, the newest first.
const maxLandings = 8

// linkRow is a landing page of the lead magnet.
type linkRow struct {
	ID, Title, URL, Screen, Self string
	Active                       bool
	Submissions                  int64
}

// breakdown is the numbers of a lead magnet by a dimension.
type breakdown struct {
	Title, Name string
	Metrics     []frame.Figure // of no row: for the head
	Rows        []breakdownRow
}

type breakdownRow struct {
	Name, URL string
	Share     template.HTML
	Numbers   []frame.Figure
}

// magnetReports are all answers that the screen needs.
type magnetReports struct {
	magnet    client.LeadMagnet
	links     client.Page[client.GenericLink]
	versions  []magnet.Version
	answers   frame.Batch // of the tiles, the course and the hours
	divided   frame.Batch // of the breakdowns
	pages     pagesReport
	before    *pagesReport // of the version before
	retention retentionReport
}

const hours = "hours"

func askMagnet(v *frame.Visit, id string) (m magnetReports, err error) {
	// First what tells whether there is such a lead magnet.
	if m.magnet, err = frame.Get[client.LeadMagnet](v, magnetsPath+"/"+url.PathEscape(id), nil); err != nil {
		return m, err
	}
	query := v.Period.Times()
	query.Set("lead_magnet_id", m.magnet.ID)
	var group errgroup.Group
	group.Go(func() (err error) {
		m.links, err = frame.Get[client.Page[client.GenericLink]](v, linksPath, url.Values{"lead_magnet_id": {m.magnet.ID},
			"per_page": {strconv.Itoa(maxLandings)}})
		return err
	})
	group.Go(func() (err error) {
		m.versions, err = listVersions(v)
		return err
	})
	group.Go(func() (err error) {
		maps.Copy(query, v.Filters.ReportQuery())
		m.pages, m.before, err = askPages(v, query)
		return err
	})
	group.Go(func() (err error) {
		from := timezone.AddDays(v.Period.Last, -7*returnWeeks)
		weeks := url.Values{
			"lead_magnet_id": {m.magnet.ID}, "by": {"week"}, "timezone": {v.Period.Zone.String()},
			"from": {from.Format(time.DateOnly)}, "to": {v.Period.To()},
		}
		maps.Copy(weeks, v.Filters.EventQuery())
		m.retention, err = frame.Get[retentionReport](v, "/api/v1/analytics/retention", weeks)
		return err
	})
	group.Go(func() (err error) {
		m.answers, err = v.Ask(magnetQueries(v, m.magnet.ID)...)
		return err
	})
	// By themselves: they run at the same time, and each batch has a limit of memory, which a year of
	// millions of events comes close to.
	group.Go(func() (err error) {
		m.divided, err = v.Ask(breakdownQueries(m.magnet.ID)...)
		return err
	})
	return m, group.Wait()
}

func magnetQueries(v *frame.Visit, id string) []frame.Query {
	return []frame.Query{
		{ID: byTime, Metrics: overviewMetrics, Interval: v.Period.Interval(), Filters: ofMagnet(id)},
		{ID: hours, Metrics: []string{"page_views"}, Dimensions: []string{"weekday", "hour_of_day"},
			Filters: ofMagnet(id), Limit: 168, Alone: true},
	}
}

func breakdownQueries(id string) (list []frame.Query) {
	for _, b := range breakdowns {
		list = append(list, frame.Query{ID: b.dimension, Metrics: b.metrics, Dimensions: []string{b.dimension},
			Filters: ofMagnet(id), Limit: 10, Alone: true})
	}
	return list
}

func ofMagnet(id string) map[string][]any { return map[string][]any{"lead_magnet_id": {id}} }

// breakdowns are the dimensions by which readers are shown.
var breakdowns = []struct {
	dimension, key, none string // none: key of what a row without a value is called
	metrics              []string
}{
	{"utm_source", "magnet.by.source", "magnet.by.source.none", []string{"people", "submissions", "people_finish_rate"}},
	{"utm_campaign", "magnet.by.campaign", "magnet.by.campaign.none",
		[]string{"people", "submissions", "people_finish_rate"}},
	{"generic_link_id", "magnet.by.link", "magnet.by.link.none", []string{"people", "submissions", "people_finish_rate"}},
	{"device", "magnet.by.device", "", []string{"people", "people_finish_rate", "median_page_ms"}},
	{"magnet_version", "magnet.by.version", "", []string{"people", "people_finish_rate", "median_page_ms"}},
}

// magnet shows how a lead magnet is read.
func (d *Dashboard) magnet(v *frame.Visit) error {
	if err := v.Narrow(view.Magnet, append([]string{frame.ByLandings, frame.ByUTMSource, frame.ByCampaign, frame.ByDevice,
		frame.ByCountry}, frame.PeopleFilters()...)...); err != nil {
		return err
	}
	m, err := askMagnet(v, v.R.PathValue("id"))
	if err != nil {
		return err
	}
	all := m.answers.Of(byTime)
	data := magnetData{
		Magnet: m.magnet, Self: "/dashboard/magnets/" + m.magnet.ID, Headline: headline(v, all.Totals),
		Published: v.R.URL.Query().Has("published"), Links: linkRows(v, m.links.Data),
		Stopped: v.People("lead_magnet_id", m.magnet.ID, "finished", "false"), Finished: v.People("lead_magnet_id",
			m.magnet.ID, "finished", "true"),
		Times: chart.Figure(whenRead(v, m.answers.Of(hours))), Empty: !all.Totals.HasAny("people"),
	}
	data.addFunnel(v, all.Totals)
	data.MoreLinks, data.AllLinks = m.links.Pagination.Total-int64(len(m.links.Data)), v.Landings(m.magnet.ID)
	if m.magnet.PageCount != nil {
		data.Pages = *m.magnet.PageCount
	}
	data.Unshown = unreadable(v, m.versions)
	var numbers []chart.Series
	if data.Tiles, numbers = overviewTiles(v, all, m.magnet.ID); data.Empty {
		data.Days = tableOf(v, all, numbers)
	} else {
		data.Course = chart.Figure(m.course(v, numbers))
	}
	if len(m.pages.Data) > 0 {
		data.Curve = chart.Figure(m.pages.chart(v, m.magnet.ID, m.before))
		data.Version = m.pages.version(v)
		data.Pictures = m.pictures(v, data.Self)
	}
	if len(m.versions) > 1 {
		data.Versions = versionRows(v, m.versions, m.pages.number())
	}
	if len(m.retention.Data) > 0 {
		data.Returns = chart.Figure(m.retention.chart(v))
	}
	for _, b := range breakdowns {
		data.Breakdown = append(data.Breakdown, m.breakDown(v, m.divided.Of(b.dimension),
			b.dimension, b.key, b.none, b.metrics))
	}
	return v.Show(d.screens["magnet"], frame.Screen{
		Title: m.magnet.Title, Nav: frame.Overview, AsOf: m.answers.AsOf, Bots: m.answers.Bots,
		Periods: true, Compares: true, Data: data,
	})
}

// unreadable says what the browser of a reader could not show of the newest version; "" if all
// of it was shown.
func unreadable(v *frame.Visit, versions []magnet.Version) string {
	if len(versions) == 0 || versions[0].Unreadable == nil {
		return ""
	}
	if number := *versions[0].Unreadable; number > 0 {
		return v.Say("magnet.unreadable.page", "n", strconv.Itoa(int(number)))
	}
	return v.Say("magnet.unreadable")
}

// course is readers over time, with a mark where a version was uploaded. Its table has the numbers
// of the tiles as well: two tables of 90 days would repeat each other.
func (m *magnetReports) course(v *frame.Visit, numbers []chart.Series) chart.Line {
	all := m.answers.Of(byTime)
	line := seriesOf(v, all, "people")
	line.Beside = slices.DeleteFunc(numbers, func(s chart.Series) bool { return s.Metric == "people" })
	uploaded := make([][]string, len(all.Rows)) // numbers of the versions of each interval, the newest first
	for _, one := range m.versions {
		at := -1
		for i, r := range all.Rows {
			if !r.Time().After(one.UploadedAt.Time) {
				at = i
			}
		}
		if at >= 0 {
			uploaded[at] = append(uploaded[at], strconv.Itoa(int(one.Version)))
		}
	}
	for at, numbers := range uploaded {
		switch n := len(numbers); n {
		case 0:
		case 1:
			line.Marks = append(line.Marks, chart.Mark{At: at, Name: v.Say("magnet.version", "number", numbers[0])})
		default:
			line.Marks = append(line.Marks,
				chart.Mark{At: at, Name: v.Say("magnet.version", "number", numbers[n-1]+"–"+numbers[0])})
		}
	}
	return line
}

func linkRows(v *frame.Visit, links []client.GenericLink) (list []linkRow) {
	for _, l := range links {
		row := linkRow{ID: "l" + l.ID, Title: l.Slug, URL: l.URL, Screen: v.Landing(l.ID, l.LeadMagnetID),
			Self: v.Path("/dashboard/links/" + l.ID), Active: l.Active, Submissions: l.SubmissionCount}
		for _, label := range []*string{l.Title, l.Name} {
			if label != nil {
				row.Title = *label
			}
		}
		list = append(list, row)
	}
	return list
}

func (m *magnetReports) breakDown(v *frame.Visit, a frame.Answer, dimension, key, none string,
	metrics []string) breakdown {
	metrics = slices.DeleteFunc(slices.Clone(metrics), func(metric string) bool { return !v.Counts(metric) })
	b := breakdown{Title: v.Say(key), Name: v.Say(key + ".name")}
	for _, metric := range metrics {
		b.Metrics = append(b.Metrics, v.Figure(frame.Row{}, metric))
	}
	highest := 1.0
	for _, r := range a.Rows {
		highest = max(highest, r.Number(metrics[0]))
	}
	for _, r := range a.Rows {
		text := r.Text(dimension)
		row := breakdownRow{Name: text}
		switch {
		case r.Is("other"):
			row.Name = v.Say("magnet.by.others")
		case text == "" && none != "":
			row.Name = v.Say(none)
		case a.Labels[text] != "":
			row.Name = a.Labels[text]
		case dimension == "magnet_version" && text == "0":
			row.Name = v.Say("magnet.by.unknown")
		}
		if !r.Is("other") {
			row.URL = rowURL(v, m.magnet.ID, dimension, text)
		}
		row.Share = chart.Proportion(r.Number(metrics[0]) / highest)
		for _, metric := range metrics {
			row.Numbers = append(row.Numbers, v.Figure(r, metric))
		}
		b.Rows = append(b.Rows, row)
	}
	return b
}

// weekdays are the keys of the days of a week.
var weekdays = []string{"frame.day.1", "frame.day.2", "frame.day.3", "frame.day.4", "frame.day.5",
	"frame.day.6", "frame.day.7"}

// whenRead is the pages that were read by weekday and hour.
func whenRead(v *frame.Visit, a frame.Answer) chart.Heat {
	h := chart.Heat{Title: v.Say("magnet.when.title"), Name: v.Say("magnet.when.day"),
		Across: v.Say("magnet.when.hour"), Metric: "page_views"}
	for _, day := range weekdays {
		h.Rows = append(h.Rows, v.Say(day))
	}
	for hour := range 24 {
		h.Columns = append(h.Columns, strconv.Itoa(hour))
	}
	for range weekdays {
		h.Values = append(h.Values, slices.Repeat([]float64{0}, 24))
	}
	for _, r := range a.Rows {
		day, hour := int(r.Number("weekday")), int(r.Number("hour_of_day"))
		if day >= 1 && day <= 7 && hour >= 0 && hour < 24 {
			h.Values[day-1][hour] = r.Number("page_views")
		}
	}
	return h
}
