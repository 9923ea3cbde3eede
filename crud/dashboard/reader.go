package dashboard

import (
	"cmp"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/web"
	"lodestone/pkg/chart"
	"lodestone/pkg/client"
	"lodestone/pkg/problem"
)

const accessPath = "/api/v1/access-links"

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

// readerData is the screen of a reader.
type readerData struct {
	List      string // address of the list that led here
	Name      string
	Headline  frame.Sentence
	Source    string
	Numbers   []frame.Figure
	Reasons   []reason
	Score     frame.Figure
	Story     []moment
	Links     []ownLink
	Forms     []ownForm
	Known     bool   // the address is
	Export    string // action
	Erase     string // action
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

// moment is one thing that happened, in the story of a reader.
type moment struct {
	At, Day, Exact string
	Title, Text    string
	Strip          template.HTML
}

// ownLink is an access link of the reader.
type ownLink struct {
	readerLink
	Title, State, Expires string
	Self                  string
}

// ownForm is a form that the reader sent.
type ownForm struct {
	Title  string
	Sent   frame.Instant
	Delete string
}

func (d *Dashboard) reader(v *frame.Visit) error {
	return d.showReader(v, http.StatusOK, frame.Form{}, nil)
}

func (d *Dashboard) showReader(v *frame.Visit, status int, f frame.Form, link *client.AccessLink) error {
	s, err := frame.Get[readerStory](v, readersPath+"/"+url.PathEscape(v.R.PathValue("access_link_id")), nil)
	if err != nil {
		return err
	}
	magnets, err := listMagnets(v)
	if err != nil {
		return err
	}
	data := readerData{List: listBefore(v), Name: v.Say("reader.deleted"), Source: s.Source.words(),
		Numbers: s.Totals.figures(v), Truncated: s.Truncated, Form: f, Link: link}
	if s.Email != nil {
		data.Name, data.Known = *s.Email, true
	}
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
	data.Story = s.story(v, pages)
	for i := range s.AccessLinks {
		data.Links = append(data.Links, s.own(v, &s.AccessLinks[i]))
	}
	if f.ID == erasureForm {
		data.Form, data.Erasing = frame.Form{}, f
	}
	data.Export = v.Path("/dashboard/readers/" + v.R.PathValue("access_link_id") + "/export")
	data.Erase = v.Path("/dashboard/readers/" + v.R.PathValue("access_link_id") + "/erase")
	for i := range s.Submissions {
		f := &s.Submissions[i]
		data.Forms = append(data.Forms, ownForm{s.title(v, f.LeadMagnetID), v.When(&f.SubmittedAt),
			v.Path("/dashboard/readers/" + v.R.PathValue("access_link_id") + "/forms/" + f.ID + "/delete")})
	}
	return v.ShowStatus(d.screens["reader"], status, frame.Screen{Title: data.Name, Nav: frame.Readers, AsOf: s.AsOf,
		Bots: s.ExcludedBots, Data: data})
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
	for _, a := range f.Answers {
		text += " · " + a.Label + ": " + a.Answer
	}
	return text
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

func (s *readerStory) own(v *frame.Visit, l *readerLink) ownLink {
	own := ownLink{readerLink: *l, Title: s.title(v, l.LeadMagnetID), State: v.Say("reader.state.open"),
		Self: v.Path("/dashboard/readers/" + v.R.PathValue("access_link_id") + "/links/" + l.ID)}
	switch {
	case !l.IsActive:
		own.State = v.Say("reader.state.revoked")
	case l.ExpiresAt != nil && l.ExpiresAt.Before(time.Now()):
		own.State = v.Say("reader.state.expired")
	case l.ExpiresAt != nil:
		own.State = v.Say("reader.state.until", "day", v.Date(l.ExpiresAt.In(v.Period.Zone)))
	}
	return own
}

// changeLink extends, revokes or opens one access link of the reader.
func (d *Dashboard) changeLink(v *frame.Visit) error {
	if err := v.R.ParseForm(); err != nil {
		return web.BadForm(err)
	}
	change := map[string]any{}
	switch v.R.PostForm.Get("do") {
	case "revoke":
		change["is_active"] = false
	case "open":
		change["is_active"] = true
	default:
		days, err := strconv.Atoi(v.R.PostForm.Get("days"))
		if err != nil || days < 1 || days > 3650 {
			return web.BadForm(errDays)
		}
		change["is_active"], change["expires_at"] = true, time.Now().AddDate(0, 0, days).UTC().Format(time.RFC3339)
	}
	_, err := frame.Send[client.AccessLink](v, http.MethodPatch, accessPath+"/"+url.PathEscape(v.R.PathValue("link")),
		change, nil)
	if err != nil {
		return err
	}
	return v.Redirect("/dashboard/readers/" + v.R.PathValue("access_link_id") + "#links")
}

var errDays = errors.New("days is not a number of days")

// newLink creates an access link for the same person, and shows it.
func (d *Dashboard) newLink(v *frame.Visit) error {
	if err := v.R.ParseForm(); err != nil {
		return web.BadForm(err)
	}
	s, err := frame.Get[readerStory](v, readersPath+"/"+url.PathEscape(v.R.PathValue("access_link_id")), nil)
	if err != nil {
		return err
	}
	if s.Email == nil {
		return problem.Missing("address of this reader")
	}
	made, err := frame.Send[client.AccessLink](v, http.MethodPost, accessPath,
		client.NewAccessLink{LeadMagnetID: v.R.PostForm.Get("lead_magnet_id"), Email: *s.Email}, nil)
	if f, ok := frame.Rejected(v.R.PostForm, err); ok {
		return d.showReader(v, http.StatusUnprocessableEntity, f, nil)
	}
	if err != nil {
		return err
	}
	return d.showReader(v, http.StatusOK, frame.Form{}, &made)
}
