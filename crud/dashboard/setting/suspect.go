package setting

import (
	"net/http"
	"slices"
	"time"

	"lodestone/crud/account"
	"lodestone/crud/dashboard/frame"
	"lodestone/pkg/api"
	"lodestone/pkg/chart"
	"lodestone/pkg/suspect"
)

const suspectsPath = "/api/v1/analytics/suspects"

// suspectAnswer is what the screen uses of the answer about suspected sessions.
type suspectAnswer struct {
	Data []struct {
		Rule     suspect.Rule  `json:"rule"`
		LeftOut  bool          `json:"left_out"`
		Sessions int64         `json:"sessions"`
		People   int64         `json:"people"`
		Without  suspectCounts `json:"without"`
		Examples []struct {
			AccessLinkID string    `json:"access_link_id"`
			Email        *string   `json:"email"`
			StartedAt    api.Time  `json:"started_at"`
			MailedAt     *api.Time `json:"mailed_at"`
			Pages        []int32   `json:"pages"`
			DurationMS   float64   `json:"duration_ms"`
		} `json:"examples"`
	} `json:"data"`
	All suspectCounts `json:"all"`
}

type suspectCounts struct {
	People    float64  `json:"people"`
	Sessions  float64  `json:"sessions"`
	PageViews float64  `json:"page_views"`
	LinkViews float64  `json:"link_views"`
	AverageMS *float64 `json:"average_ms"`
}

type suspectsData struct {
	Done     string
	Sessions int64
	Rules    []suspectRow
}

type suspectRow struct {
	Rule             suspect.Rule
	Name, Means      string
	Error            string // who else behaves like that
	LeftOut          bool
	Sessions, People int64
	Views            int64 // of landing pages
	Changes          []suspectChange
	Examples         []suspectExample
}

// suspectChange is a number with all sessions, and without those of a rule.
type suspectChange struct {
	Words        string
	All, Without frame.Figure
}

type suspectExample struct {
	Who, URL, Pages, Time, Mailed string
	Started                       frame.Instant
}

func (s *Screens) showSuspects(v *frame.Visit) error {
	found, err := frame.Get[suspectAnswer](v, suspectsPath, nil)
	if err != nil {
		return err
	}
	d := suspectsData{Done: done(v)}
	for _, r := range found.Data {
		key := "setting.suspects.rule." + string(r.Rule)
		row := suspectRow{Rule: r.Rule, Name: v.Say(key), Means: v.Say(key + ".means"), Error: v.Say(key + ".error"),
			LeftOut: r.LeftOut, Sessions: r.Sessions, People: r.People}
		d.Sessions += r.Sessions
		row.Views = int64(found.All.LinkViews - r.Without.LinkViews)
		if r.Sessions+row.Views > 0 {
			row.Changes = suspectChanges(v, found.All, r.Without)
		}
		for _, e := range r.Examples {
			shown := suspectExample{Who: v.Say("setting.suspects.someone"), Started: v.WhenOf(&e.StartedAt),
				Pages: v.Say("setting.suspects.pages", "n", len(e.Pages)), Time: chart.Time(e.DurationMS)}
			if v.MaySeePeople() {
				shown.URL = v.Link("/dashboard/readers/" + e.AccessLinkID)
			}
			if e.Email != nil {
				shown.Who = *e.Email
			}
			if r.Rule == suspect.Delivery && e.MailedAt != nil {
				after := e.StartedAt.Sub(e.MailedAt.Time)
				shown.Mailed = v.Say("setting.suspects.mailed", "n", int64(after/time.Second))
			}
			row.Examples = append(row.Examples, shown)
		}
		d.Rules = append(d.Rules, row)
	}
	return s.show(v, "suspects", "setting.suspects", http.StatusOK, d)
}

func suspectChanges(v *frame.Visit, all, without suspectCounts) []suspectChange {
	average := func(c suspectCounts) float64 {
		if c.AverageMS == nil {
			return chart.Gap()
		}
		return *c.AverageMS
	}
	change := func(metric, words string, all, without float64, format chart.Format) suspectChange {
		of := func(n float64) frame.Figure {
			return frame.Figure{Metric: metric, Value: n, Before: chart.Gap(), Format: format}
		}
		return suspectChange{words, of(all), of(without)}
	}
	changes := []suspectChange{
		change("people", v.Label("people"), all.People, without.People, nil),
		change("sessions", v.Label("sessions"), all.Sessions, without.Sessions, nil),
		change("page_views", v.Label("page_views"), all.PageViews, without.PageViews, nil),
		change("average_ms", v.Say("setting.suspects.average"), average(all), average(without), chart.Time),
	}
	if all.LinkViews != without.LinkViews {
		changes = append(changes, change("link_views", v.Label("link_views"), all.LinkViews, without.LinkViews, nil))
	}
	return changes
}

// changeSuspects leaves the sessions of a rule out, or counts them again.
func (s *Screens) changeSuspects(v *frame.Visit) error {
	typed, err := form(v)
	if err != nil {
		return err
	}
	own, err := frame.Get[account.Account](v, accountPath, nil)
	if err != nil {
		return err
	}
	rule := suspect.Rule(typed.Get("rule"))
	rules := slices.DeleteFunc(append([]suspect.Rule{}, own.LeftOut...), func(r suspect.Rule) bool { return r == rule })
	if typed.Get("left_out") != "" {
		rules = append(rules, rule)
	}
	if _, err = frame.Send[account.Account](v, http.MethodPatch, accountPath,
		map[string]any{"left_out_suspects": rules}, nil); err != nil {
		return err
	}
	return s.redirect(v, "/suspects", "saved")
}
