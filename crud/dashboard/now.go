package dashboard

import (
	"net/url"
	"time"

	"lodestone/crud/dashboard/frame"
	"lodestone/pkg/chart"
	"lodestone/pkg/client"
)

const (
	nowPath     = "/api/v1/analytics/now"
	magnetsPath = "/api/v1/lead-magnets"
)

// nowReport is the API's answer about who reads now.
type nowReport struct {
	Data []struct {
		AccessLinkID string    `json:"access_link_id"`
		LeadMagnetID string    `json:"lead_magnet_id"`
		Page         *int      `json:"page"`
		Since        time.Time `json:"since"`
		LastSeenAt   time.Time `json:"last_seen_at"`
		Email        *string   `json:"email"`
		Name         *string   `json:"name"`
	} `json:"data"`
	Readers      int64     `json:"readers"`
	ExcludedBots int64     `json:"excluded_bots"`
	AsOf         time.Time `json:"as_of"`
}

// nowReading is who reads now, as the screens show it. Its JSON is for the script that goes on from
// there: web/src/live.tsx.
type nowReading struct {
	Readers int64          `json:"readers"`
	People  []nowPerson    `json:"people"`
	AsOf    time.Time      `json:"as_of"`
	Window  int64          `json:"window"` // milliseconds after which one who was not seen has left
	Compact bool           `json:"compact"`
	Stream  string         `json:"stream"` // path of the API's stream of events
	Screen  string         `json:"screen"` // path of the screen that has the same for everyone
	Words   map[string]any `json:"words"`
}

// Figure is how many read.
func (n nowReading) Figure() frame.Figure {
	return frame.Figure{Metric: "readers_now", Value: float64(n.Readers), Before: chart.Gap()}
}

// More is the number of readers who are not listed.
func (n nowReading) More() int64 {
	people := int64(0)
	for _, p := range n.People {
		if !p.Bot {
			people++
		}
	}
	return n.Readers - people
}

type nowPerson struct {
	ID    string    `json:"id"` // of the access link
	Bot   bool      `json:"bot"`
	Name  string    `json:"name"`
	Title string    `json:"title"`
	URL   string    `json:"url"`
	Page  int       `json:"page"`
	Pages int       `json:"pages"`
	Cells []bool    `json:"cells"` // of each page: whether it was read
	Since time.Time `json:"since"`
	At    time.Time `json:"seen"`
	Where string    `json:"-"` // the page in words; "": it is not known
	Seen  string    `json:"-"`
}

// maxCells is the number of pages that a strip of cells shows.
const maxCells = 40

// Who is listed at most, on the overview and on the live screen.
const (
	maxGlance = 6
	maxNow    = 60
)

func readingNow(v *frame.Visit, report nowReport, magnets map[string]client.LeadMagnet, limit int) nowReading {
	now := nowReading{
		Readers: report.Readers, People: []nowPerson{}, AsOf: report.AsOf, Window: nowWindow.Milliseconds(),
		Compact: limit == maxGlance,
		Stream:  v.Path("/api/v1/analytics/live"), Screen: v.Path(livePath), Words: liveWords(v, limit == maxGlance),
	}
	for _, r := range report.Data[:min(limit, len(report.Data))] {
		p := nowPerson{
			ID: r.AccessLinkID, Name: v.Say("live.someone"), URL: v.Link("/dashboard/readers/" + r.AccessLinkID),
			Since: r.Since, At: r.LastSeenAt, Seen: ago(v, report.AsOf.Sub(r.LastSeenAt)),
		}
		if r.Email != nil {
			p.Name, _ = named(v, r.Name, r.Email)
		}
		if r.Page != nil {
			p.Page = *r.Page
		}
		p.of(v, magnets[r.LeadMagnetID])
		now.People = append(now.People, p)
	}
	return now
}

// of sets what the person reads.
func (p *nowPerson) of(v *frame.Visit, m client.LeadMagnet) {
	p.Title = m.Title
	if m.PageCount != nil {
		p.Pages = *m.PageCount
	}
	switch {
	case p.Page > 0 && p.Pages > 0:
		p.Where = v.Say("live.page_of", "page", p.Page, "pages", p.Pages)
	case p.Page > 0:
		p.Where = v.Say("live.page", "page", p.Page)
	}
	if p.Pages > maxCells {
		return
	}
	p.Cells = make([]bool, p.Pages)
	p.read(p.Page)
}

// read marks a page as read.
func (p *nowPerson) read(page int) {
	if page >= 1 && page <= len(p.Cells) {
		p.Cells[page-1] = true
	}
}

// listMagnets returns the newest lead magnets.
func listMagnets(v *frame.Visit) (client.Page[client.LeadMagnet], error) {
	return frame.Get[client.Page[client.LeadMagnet]](v, magnetsPath, url.Values{"per_page": {"100"}})
}

func byID(magnets []client.LeadMagnet) map[string]client.LeadMagnet {
	found := make(map[string]client.LeadMagnet, len(magnets))
	for _, m := range magnets {
		found[m.ID] = m
	}
	return found
}

// ago says how long ago something was, to a second.
func ago(v *frame.Visit, d time.Duration) string {
	if d < 2*time.Second {
		return v.Say("live.just_now")
	}
	return v.Say("live.ago", "time", chart.Time(float64(d.Truncate(time.Second).Milliseconds())))
}

// liveWords are the words of the script. It fills their placeholders, which here stand for
// themselves.
func liveWords(v *frame.Visit, compact bool) map[string]any {
	heading := "live.now"
	if compact {
		heading = "overview.now"
	}
	return map[string]any{
		"heading": v.Forms(heading), "more": v.Forms("live.more"),
		"just_now": v.Say("live.just_now"), "ago": v.Say("live.ago"), "left": v.Say("live.left"), "page": v.Say("live.page"),
		"page_of": v.Say("live.page_of"),
		"none":    v.Say("live.none"), "then": v.Say("live.none.then"),
		"began": v.Say("live.began"), "bot": v.Say("live.bot"),
		"connected": v.Say("live.connected"), "lost": v.Say("live.lost"), "title": v.Say("frame.nav.live"),
	}
}
