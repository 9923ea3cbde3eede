package history

import (
	"strconv"
	"time"

	"lodestone/pkg/event"
)

// metrics are the numbers that the plan, the API and SQL are compared by, in the words of the API.
var metrics = []string{
	"link_views", "visitors", "submissions", "verified", "readers", "people", "sessions", "page_views", "finished", "downloads",
}

// perVersion are those that a version of a document has.
var perVersion = []string{"readers", "people", "sessions", "page_views", "finished", "downloads"}

// numbers are metrics by name.
type numbers map[string]int64

// tally is what the plan says the answers are.
type tally struct {
	all      numbers
	bySource map[string]numbers // by utm_source; "": none
	versions map[string]numbers // of the guide
	weeks    map[time.Time]numbers
	bots     int64 // events and views
}

// set counts distinct things in a cell.
type set struct {
	numbers
	seen map[any]bool
}

// counter counts cells.
type counter struct {
	cells map[any]*set
}

func (c *counter) cell(key any) *set {
	if c.cells[key] == nil {
		c.cells[key] = &set{numbers{}, map[any]bool{}}
	}
	return c.cells[key]
}

// Keys of cells.
type (
	sourceKey  string
	versionKey int
	weekKey    time.Time
	totalKey   struct{}
)

// distinct is a thing of a metric that counts once.
type distinct struct {
	metric string
	thing  any
}

// once counts a thing unless the cell has it.
func (s *set) once(metric string, thing any) {
	if key := (distinct{metric, thing}); !s.seen[key] {
		s.seen[key] = true
		s.numbers[metric]++
	}
}

// visitorDay is a visitor on a day of UTC, of whom a view counts once.
type visitorDay struct {
	number int
	day    time.Time
}

// weekOf returns the Monday of a time.
func weekOf(t time.Time) time.Time {
	day := t.UTC().Truncate(24 * time.Hour)
	return day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
}

// utmSource returns the utm_source of a link, which is that of its submission; "": none.
func (l *link) utmSource() string {
	if l.submission == nil {
		return ""
	}
	return campaigns[l.submission.campaign].source
}

// utmSource returns the source that is stored with a view.
func (v *view) utmSource() string {
	if v.visitor.private || v.visitor.bot {
		return ""
	}
	return campaigns[v.campaign].source
}

// count returns what the answers to questions about the plan are.
func (p *plan) count() tally {
	c := &counter{cells: map[any]*set{}}
	t := tally{}
	for _, v := range p.views {
		if v.visitor.bot {
			t.bots++
			continue
		}
		for _, cell := range []*set{c.cell(totalKey{}), c.cell(sourceKey(v.utmSource())), c.cell(weekKey(weekOf(v.at)))} {
			cell.numbers["link_views"]++
			if v.visitor.private {
				cell.numbers["visitors"]++
			} else {
				cell.once("visitors", visitorDay{v.visitor.number, v.at.UTC().Truncate(24 * time.Hour)})
			}
		}
	}
	for _, s := range p.submissions {
		source := sourceKey(campaigns[s.campaign].source)
		for _, cell := range []*set{c.cell(totalKey{}), c.cell(source), c.cell(weekKey(weekOf(s.at)))} {
			cell.numbers["submissions"]++
		}
		verified := s.at
		if s.landing == fromWebinar {
			verified = s.verifiedAt
		}
		if !verified.IsZero() {
			for _, cell := range []*set{c.cell(totalKey{}), c.cell(source), c.cell(weekKey(weekOf(verified)))} {
				cell.numbers["verified"]++
			}
		}
	}
	for _, s := range p.sessions {
		if s.isScan() {
			t.bots += int64(len(s.events))
			continue
		}
		for _, a := range s.events {
			cells := []*set{c.cell(totalKey{}), c.cell(sourceKey(s.link.utmSource())), c.cell(weekKey(weekOf(a.at)))}
			if s.link.document == guide {
				cells = append(cells, c.cell(versionKey(s.version)))
			}
			for _, cell := range cells {
				cell.action(s, a)
			}
		}
	}
	t.all, t.bySource, t.versions, t.weeks = c.cell(totalKey{}).numbers, map[string]numbers{}, map[string]numbers{}, map[time.Time]numbers{}
	for key, cell := range c.cells {
		switch key := key.(type) {
		case sourceKey:
			t.bySource[string(key)] = cell.numbers
		case versionKey:
			t.versions[strconv.Itoa(int(key))] = cell.numbers
		case weekKey:
			t.weeks[time.Time(key)] = cell.numbers
		}
	}
	return t
}

// action counts an event of a session.
func (s *set) action(of *session, a *action) {
	switch a.kind {
	case event.PageViewed:
		s.numbers["page_views"]++
		s.once("readers", of.link)
		s.once("people", of.link.person)
		s.once("sessions", of)
		if a.page == pages(of.link.document, of.version) {
			s.once("finished", of.link)
		}
	case event.DownloadCompleted:
		s.numbers["downloads"]++
	case event.DownloadStarted:
	}
}
