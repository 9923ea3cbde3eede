package setting

import (
	"net/http"

	"lodestone/crud/account"
	"lodestone/crud/dashboard/frame"
	"lodestone/pkg/chart"
)

type usageData struct {
	Plan, ID string
	Since    frame.Instant
	Rows     []usageRow
}

type usageRow struct {
	Words   string
	Used    frame.Figure
	Limit   string
	Share   int // of the limit, in percent; 0 without one
	Bounded bool
	Almost  bool
}

// almost is the share of a limit, in percent, from which a row says so.
const almost = 90

func (s *Screens) showUsage(v *frame.Visit) error {
	own, err := frame.Get[account.Account](v, accountPath, nil)
	if err != nil {
		return err
	}
	l, u := own.Limits, own.Usage
	d := usageData{Plan: string(own.Plan), ID: own.ID.String(), Since: v.WhenOf(&own.CreatedAt)}
	for _, r := range []struct {
		metric string
		used   int64
		limit  *int64
		format chart.Format
	}{
		{"lead_magnets", u.LeadMagnets, l.LeadMagnets, chart.Count}, {"stored_bytes", u.StoredBytes, l.StoredBytes, size},
		{"generic_links", u.GenericLinks, l.GenericLinks, chart.Count},
		{"access_links", u.AccessLinks, l.AccessLinks, chart.Count},
		{"keys", u.Keys, &l.Keys, chart.Count}, {"events_this_month", u.EventsThisMonth, l.EventsPerMonth, chart.Count},
	} {
		row := usageRow{
			Words: v.Say("setting.usage.of." + r.metric), Limit: v.Say("setting.usage.unlimited"),
			Used: frame.Figure{Metric: r.metric, Value: float64(r.used), Before: chart.Gap(), Format: r.format},
		}
		if r.limit != nil && *r.limit > 0 {
			row.Bounded, row.Limit = true, r.format(float64(*r.limit))
			row.Share = int(min(100*r.used / *r.limit, 100))
			row.Almost = row.Share >= almost
		}
		d.Rows = append(d.Rows, row)
	}
	return s.show(v, "usage", "setting.usage", http.StatusOK, d)
}

// size writes a number of bytes.
func size(n float64) string {
	unit := 0
	names := []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	for n >= 1024 && unit < len(names)-1 {
		n, unit = n/1024, unit+1
	}
	if unit > 0 && n < 100 {
		n = float64(int64(n*10+0.5)) / 10
	} else {
		n = float64(int64(n + 0.5))
	}
	return chart.Exact(n) + " " + names[unit]
}
