package dashboard

import (
	"cmp"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"lodestone/crud/dashboard/frame"
	"lodestone/pkg/chart"
	"lodestone/pkg/client"
)

// readerStory is the API's story of a person.
type readerStory struct {
	AccessLinkID string             `json:"access_link_id"`
	Email        *string            `json:"email"`
	Source       readerSource       `json:"source"`
	Totals       readerTotals       `json:"totals"`
	AccessLinks  []readerLink       `json:"access_links"`
	Submissions  []readerSubmission `json:"submissions"`
	Sessions     []readerSession    `json:"sessions"`
	Truncated    bool               `json:"truncated"`
	ExcludedBots int64              `json:"excluded_bots"`
	AsOf         time.Time          `json:"as_of"`
	Labels       map[string]string  `json:"labels"`
}

type readerLink struct {
	ID           string     `json:"id"`
	LeadMagnetID string     `json:"lead_magnet_id"`
	Source       string     `json:"source"`
	IsActive     bool       `json:"is_active"`
	MaxViews     *int       `json:"max_views"`
	ExpiresAt    *time.Time `json:"expires_at"`
	CreatedAt    time.Time  `json:"created_at"`
}

type readerSubmission struct {
	ID           string  `json:"id"`
	LeadMagnetID string  `json:"lead_magnet_id"`
	Name         *string `json:"name"`
	Answers      []struct {
		Label  string `json:"label"`
		Answer string `json:"answer"`
	} `json:"answers"`
	Verified    bool       `json:"verified"`
	SubmittedAt time.Time  `json:"submitted_at"`
	Referrer    *string    `json:"referrer"`
	ConsentedAt *time.Time `json:"consented_at"`
	ConsentText *string    `json:"consent_text"`
}

type readerSession struct {
	LeadMagnetID string      `json:"lead_magnet_id"`
	StartedAt    time.Time   `json:"started_at"`
	Device       string      `json:"device"`
	Pages        int64       `json:"pages"`
	ReadingMS    int64       `json:"reading_ms"`
	Visits       []pageVisit `json:"visits"`
	Downloads    []struct {
		EventType string    `json:"event_type"`
		CreatedAt time.Time `json:"created_at"`
	} `json:"downloads"`
}

type pageVisit struct {
	Page      *int      `json:"page"`
	StartedAt time.Time `json:"start"`
	MS        int64     `json:"ms"`
}

// readerData is the screen of a person.
type readerData struct {
	Self      string // address of the screen
	List      string // address of the list that led here
	Who       whoData
	Headline  frame.Sentence
	Source    string
	Numbers   []frame.Figure
	Reasons   []reason
	Score     frame.Figure
	Documents []readDocument
	Story     []moment
	Links     []ownLink
	Forms     []ownForm
	Erasing   frame.Form
	Truncated bool
	Form      frame.Form
	Magnets   []option // of a new link
	Link      *client.AccessLink
}

// reason is a part of the score.
type reason struct {
	Words  string
	Points int64
}

// readDocument is a document that the person read.
type readDocument struct{ Title, URL, Words string }

// moment is one thing that happened, in the story of a reader.
type moment struct {
	At, Day, Exact string
	Title, Text    string
	Strip          template.HTML
}

// ownForm is a form that the reader sent.
type ownForm struct {
	Title  string
	Words  string
	Sent   frame.Instant
	Delete string
}

// reader shows a person: on one page, whichever of their links the address names.
func (d *Dashboard) reader(v *frame.Visit) error {
	return d.showReader(v, http.StatusOK, frame.Form{}, nil)
}

func (d *Dashboard) showReader(v *frame.Visit, status int, f frame.Form, link *client.AccessLink) error {
	var (
		s       readerStory
		who     *profile
		magnets client.Page[client.LeadMagnet]
		group   errgroup.Group
	)
	group.Go(func() (err error) {
		s, err = frame.Get[readerStory](v, readersPath+"/"+url.PathEscape(v.R.PathValue("access_link_id")), nil)
		return err
	})
	group.Go(func() (err error) {
		who, err = readPerson(v)
		return err
	})
	group.Go(func() (err error) {
		magnets, err = listMagnets(v)
		return err
	})
	if err := group.Wait(); err != nil {
		return err
	}
	if v.R.Method == http.MethodGet && len(s.AccessLinks) > 0 && s.AccessLinks[0].ID != v.R.PathValue("access_link_id") {
		return v.Redirect(readerScreen + url.PathEscape(s.AccessLinks[0].ID) + suffix(v.R.URL.RawQuery))
	}
	data := readerData{Self: v.Path(readerScreen + url.PathEscape(v.R.PathValue("access_link_id"))), List: listBefore(v),
		Source: s.Source.full(), Numbers: s.Totals.figures(v), Truncated: s.Truncated, Link: link}
	sent := map[string]frame.Form{f.ID: f}
	data.Form, data.Erasing, data.Who = sent[""], sent[erasureForm], who.who(v, sent[personForm])
	data.Score = data.Numbers[len(data.Numbers)-1]
	data.Numbers = data.Numbers[:len(data.Numbers)-1]
	data.Reasons = s.Totals.ScoreParts.reasons(v)
	data.Headline = s.headline(v)
	pages := map[string]int{}
	for _, m := range magnets.Data {
		if m.PageCount != nil {
			pages[m.ID] = *m.PageCount
		}
		if m.IsActive && m.FileName != nil {
			data.Magnets = append(data.Magnets, option{m.ID, m.Title, m.ID == f.Value("lead_magnet_id")})
		}
	}
	data.Documents = s.documents(v, pages)
	data.Story = s.story(v, pages)
	for i := range s.AccessLinks {
		data.Links = append(data.Links, s.own(v, &s.AccessLinks[i]))
	}
	for i := range s.Submissions {
		f := &s.Submissions[i]
		data.Forms = append(data.Forms, ownForm{s.title(v, f.LeadMagnetID), f.words(v), v.When(&f.SubmittedAt),
			data.Self + "/forms/" + f.ID + "/delete"})
	}
	return v.ShowStatus(d.screens["reader"], status, frame.Screen{Title: data.Who.Name, Nav: frame.Readers, AsOf: s.AsOf,
		Bots: s.ExcludedBots, Data: data})
}

const readerScreen = "/dashboard/readers/"

// suffix returns a query with its question mark; "" for none.
func suffix(query string) string {
	if query == "" {
		return ""
	}
	return "?" + query
}

func (s *readerStory) headline(v *frame.Visit) frame.Sentence {
	t := &s.Totals
	if t.PageViews == 0 {
		return v.Sentence("reader.unread")
	}
	figures := t.figures(v)
	pages, reading := figures[1], figures[2]
	key := "reader.read"
	if t.Finished {
		key = "reader.read.end"
	}
	return v.Sentence(key, "n", t.Pages, "pages", &pages, "time", &reading)
}

// reasons are the parts of a score that have points.
func (p scoreOf) reasons(v *frame.Visit) (list []reason) {
	for _, r := range []reason{
		{"reader.score.finished", p.Finished}, {"reader.score.attention", p.Attention}, {"reader.score.returns", p.Returns},
		{"reader.score.downloads", p.Downloads}, {"reader.score.recency", p.Recency},
	} {
		if r.Points > 0 {
			r.Words = v.Say(r.Words)
			list = append(list, r)
		}
	}
	return list
}

// documents returns what the person read of each lead magnet, the one read last first.
func (s *readerStory) documents(v *frame.Visit, pages map[string]int) (list []readDocument) {
	type reading struct {
		sessions int64
		ms       int64
		pages    map[int]bool
		last     time.Time
	}
	var order []string
	of := map[string]*reading{}
	for i := range s.Sessions { // the newest first
		one := &s.Sessions[i]
		r := of[one.LeadMagnetID]
		if r == nil {
			r = &reading{pages: map[int]bool{}, last: one.StartedAt}
			of[one.LeadMagnetID], order = r, append(order, one.LeadMagnetID)
		}
		r.sessions++
		r.ms += one.ReadingMS
		for _, visit := range one.Visits {
			if visit.Page != nil {
				r.pages[*visit.Page] = true
			}
		}
	}
	for _, id := range order {
		r, key := of[id], "reader.document"
		all, known := pages[id]
		switch {
		case !known:
			key = "reader.document.unknown"
		case r.pages[all]:
			key = "reader.document.end"
		}
		d := readDocument{Title: s.title(v, id), Words: v.Say(key, "n", r.sessions, "read", len(r.pages), "pages", all,
			"time", chart.Time(float64(r.ms)), "last", v.When(&r.last).Text)}
		if known {
			d.URL = v.Link("/dashboard/magnets/" + id)
		}
		list = append(list, d)
	}
	return list
}

// story returns the person's actions over all lead magnets, newest first.
func (s *readerStory) story(v *frame.Visit, pages map[string]int) (list []moment) {
	type datedMoment struct {
		at time.Time
		moment
	}
	var all []datedMoment
	add := func(at time.Time, m moment) {
		local := at.In(v.Period.Zone)
		m.At, m.Day, m.Exact = local.Format("15:04"), v.Date(local), local.Format(time.RFC3339)
		all = append(all, datedMoment{at, m})
	}
	for i := range s.Sessions {
		one := &s.Sessions[i]
		add(one.StartedAt, moment{Title: v.Say("reader.session", "title", s.title(v, one.LeadMagnetID)), Text: one.words(v),
			Strip: one.strip(v, pages[one.LeadMagnetID])})
	}
	for _, f := range s.Submissions {
		add(f.SubmittedAt, moment{Title: v.Say("reader.form", "title", s.title(v, f.LeadMagnetID)), Text: f.words(v)})
	}
	for _, l := range s.AccessLinks {
		if l.Source == "api" {
			add(l.CreatedAt, moment{Title: v.Say("reader.given", "title", s.title(v, l.LeadMagnetID))})
		}
	}
	slices.SortStableFunc(all, func(a, b datedMoment) int { return b.at.Compare(a.at) })
	for _, m := range all {
		list = append(list, m.moment)
	}
	return list
}

// title is that of a lead magnet, which may be deleted.
func (s *readerStory) title(v *frame.Visit, magnet string) string {
	return cmp.Or(s.Labels[magnet], v.Say("reader.document.deleted"))
}

func (f readerSubmission) words(v *frame.Visit) string {
	text := v.Say("reader.form.sent")
	if f.Name != nil {
		text = v.Say("reader.form.as", "name", *f.Name)
	}
	if f.Referrer != nil {
		text = v.Say("reader.form.from", "sent", text, "site", *f.Referrer)
	}
	if f.ConsentedAt != nil && f.ConsentText != nil {
		text = v.Say("reader.form.agreed", "sent", text, "text", *f.ConsentText)
	}
	parts := []string{text}
	for _, a := range f.Answers {
		parts = append(parts, a.Label+": "+a.Answer)
	}
	return strings.Join(parts, " · ")
}

func (s *readerSession) words(v *frame.Visit) string {
	text := v.Say("reader.session.words", "n", s.Pages, "time", chart.Time(float64(s.ReadingMS)), "device", s.Device)
	for _, d := range s.Downloads {
		if d.EventType == "download_completed" {
			return v.Say("reader.session.downloaded", "session", text)
		}
	}
	return text
}

// strip draws the session. One without visits has none.
func (s *readerSession) strip(v *frame.Visit, pages int) template.HTML {
	if len(s.Visits) == 0 {
		return ""
	}
	c := chart.Strip{Title: v.Say("reader.strip", "time", v.When(&s.StartedAt).Text), Pages: pages}
	for _, visit := range s.Visits {
		if visit.Page != nil {
			c.Visits = append(c.Visits,
				chart.Visit{Page: *visit.Page, Start: float64(visit.StartedAt.Sub(s.Visits[0].StartedAt).Milliseconds()),
					Visible: float64(visit.MS)})
		}
	}
	return chart.Figure(c)
}
