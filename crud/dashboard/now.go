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
	} `json:"data"`
	Readers      int64     `json:"readers"`
	ExcludedBots int64     `json:"excluded_bots"`
	AsOf         time.Time `json:"as_of"`
}

// nowReading is who reads now, as the screens show it.
type nowReading struct {
	Readers int64
	People  []nowPerson
}

// Figure is how many read.
func (n nowReading) Figure() frame.Figure {
	return frame.Figure{Metric: "readers_now", Value: float64(n.Readers), Before: chart.Gap()}
}

type nowPerson struct {
	Link, ID, Name, Title, URL string
	Page, Pages                int
	Where                      string // the page in words; "": it is not known
	Cells                      []bool // of each page: whether it was read
	Seen                       string
}

// maxCells is the number of pages that a strip of cells shows.
const maxCells = 40

func readingNow(v *frame.Visit, report nowReport, magnets []client.LeadMagnet) nowReading {
	byID := map[string]client.LeadMagnet{}
	for _, m := range magnets {
		byID[m.ID] = m
	}
	now := nowReading{Readers: report.Readers}
	for _, r := range report.Data {
		m := byID[r.LeadMagnetID]
		p := nowPerson{ID: r.AccessLinkID, Name: v.Say("live.someone"), Title: m.Title, URL: v.Link("/dashboard/readers/" + r.AccessLinkID), Seen: ago(v, report.AsOf.Sub(r.LastSeenAt))}
		if r.Email != nil {
			p.Name = *r.Email
		}
		if r.Page != nil {
			p.Page = *r.Page
		}
		if m.PageCount != nil {
			p.Pages = *m.PageCount
		}
		switch {
		case p.Page > 0 && p.Pages > 0:
			p.Where = v.Say("live.page_of", "page", p.Page, "pages", p.Pages)
		case p.Page > 0:
			p.Where = v.Say("live.page", "page", p.Page)
		}
		if p.Pages <= maxCells {
			for i := range p.Pages {
				p.Cells = append(p.Cells, i+1 == p.Page)
			}
		}
		now.People = append(now.People, p)
	}
	return now
}

// listMagnets returns the newest lead magnets.
func listMagnets(v *frame.Visit) (client.Page[client.LeadMagnet], error) {
	return frame.Get[client.Page[client.LeadMagnet]](v, magnetsPath, url.Values{"per_page": {"100"}})
}

// ago says how long ago something was, to a second.
func ago(v *frame.Visit, d time.Duration) string {
	if d < 2*time.Second {
		return v.Say("live.just_now")
	}
	return v.Say("live.ago", "time", chart.Time(float64(d.Truncate(time.Second).Milliseconds())))
}
