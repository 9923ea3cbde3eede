package frame

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/timezone"
)

// Each choice of the calendar is the range of its name, on the last day of a month, over the end of
// a year, and where clocks pass over a midnight. Its address shows that range.
func TestCalendar(t *testing.T) {
	t.Parallel()
	began := time.Date(2018, 2, 3, 23, 30, 0, 0, time.UTC)
	for _, c := range []struct{ zone, now, want string }{
		{"Europe/Berlin", "2026-11-28T23:30:00Z",
			"2026-11-29 2026-11-29, 2026-11-28 2026-11-28, 2026-11-23 2026-11-29, 2026-11-01 2026-11-29, 2026-10-01 2026-10-31, " +
				"2026-10-01 2026-11-29, 2026-01-01 2026-11-29, 2025-01-01 2025-12-31, 2018-02-04 2026-11-29"},
		{"America/New_York", "2028-03-01T04:00:00Z",
			"2028-02-29 2028-02-29, 2028-02-28 2028-02-28, 2028-02-28 2028-02-29, 2028-02-01 2028-02-29, 2028-01-01 2028-01-31, " +
				"2028-01-01 2028-02-29, 2028-01-01 2028-02-29, 2027-01-01 2027-12-31, 2018-02-22 2028-02-29"},
		{"UTC", "2027-01-01T00:00:00Z",
			"2027-01-01 2027-01-01, 2026-12-31 2026-12-31, 2026-12-28 2027-01-01, 2027-01-01 2027-01-01, 2026-12-01 2026-12-31, " +
				"2027-01-01 2027-01-01, 2027-01-01 2027-01-01, 2026-01-01 2026-12-31, 2018-02-03 2027-01-01"},
		{"UTC", "2028-12-31T12:00:00Z",
			"2028-12-31 2028-12-31, 2028-12-30 2028-12-30, 2028-12-25 2028-12-31, 2028-12-01 2028-12-31, 2028-11-01 2028-11-30, " +
				"2028-10-01 2028-12-31, 2028-01-01 2028-12-31, 2027-01-01 2027-12-31, 2018-12-25 2028-12-31"},
		// Clocks went from midnight to one on 2026-04-24 in Cairo, and on 2018-11-04 in São Paulo.
		{"Africa/Cairo", "2026-04-24T12:00:00Z",
			"2026-04-24 2026-04-24, 2026-04-23 2026-04-23, 2026-04-20 2026-04-24, 2026-04-01 2026-04-24, 2026-03-01 2026-03-31, " +
				"2026-04-01 2026-04-24, 2026-01-01 2026-04-24, 2025-01-01 2025-12-31, 2018-02-04 2026-04-24"},
		{"Africa/Cairo", "2026-04-25T12:00:00Z",
			"2026-04-25 2026-04-25, 2026-04-24 2026-04-24, 2026-04-20 2026-04-25, 2026-04-01 2026-04-25, 2026-03-01 2026-03-31, " +
				"2026-04-01 2026-04-25, 2026-01-01 2026-04-25, 2025-01-01 2025-12-31, 2018-02-04 2026-04-25"},
		{"America/Sao_Paulo", "2018-11-05T12:00:00Z",
			"2018-11-05 2018-11-05, 2018-11-04 2018-11-04, 2018-11-05 2018-11-05, 2018-11-01 2018-11-05, 2018-10-01 2018-10-31, " +
				"2018-10-01 2018-11-05, 2018-01-01 2018-11-05, 2017-01-01 2017-12-31, 2018-02-03 2018-11-05"},
	} {
		zone, err := time.LoadLocation(c.zone)
		require.NoError(t, err)
		now, err := time.Parse(time.RFC3339, c.now)
		require.NoError(t, err)
		got := ""
		for _, r := range calendar(timezone.AddDays(now.In(zone), 0), began) {
			p := Period{First: r.first, Last: r.last, Name: r.name, Compare: true}
			shown := ParsePeriod(p.Query(), now, began, zone)
			require.False(t, shown.Refused, "%s: %s", c.now, r.name)
			require.Equal(t, []time.Time{r.first, r.last}, []time.Time{shown.First, shown.Last}, r.name)
			if got != "" {
				got += ", "
			}
			got += p.From() + " " + p.Until()
		}
		require.Equal(t, c.want, got, "%s in %s", c.now, c.zone)
	}
}
