package frame_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/crud/dashboard/frame"
)

func TestRangesThatCannotBeShownAreRefused(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 23, 30, 0, 0, time.UTC) // the 29th in Berlin
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	for address, want := range map[string]struct {
		first, last string
		refused     bool
	}{
		"": {"2026-10-31", "2026-11-29", false}, "days=60": {"2026-10-01", "2026-11-29", false},
		"days=1": {"2026-11-29", "2026-11-29", false}, "days=366": {"2025-11-29", "2026-11-29", false},
		"from=2026-11-01&to=2026-11-10": {"2026-11-01", "2026-11-10", false}, "from=2026-11-01": {"2026-11-01", "2026-11-29",
			false}, "from=2026-11-20&to=2027-01-01": {"2026-11-20", "2026-11-29", false},
		"days=3661":   {"2026-10-31", "2026-11-29", true},
		"period=soon": {"2026-10-31", "2026-11-29", true}, "days=0": {"2026-10-31", "2026-11-29", true},
		"days=-1": {"2026-10-31", "2026-11-29", true}, "days=x": {"2026-10-31", "2026-11-29", true},
		"from=2026-11-10&to=2026-11-01": {"2026-10-31", "2026-11-29", true}, "from=2014-01-01&to=2026-11-01": {"2026-10-31",
			"2026-11-29", true}, "from=2026-02-30&to=2026-03-01": {"2026-10-31", "2026-11-29", true},
		"from=2026-11-01&to=yesterday": {"2026-10-31", "2026-11-29", true}, "to=2026-11-01": {"2026-10-31", "2026-11-29",
			true}, "from=2026-12-01&to=2026-12-02": {"2026-10-31", "2026-11-29", true},
	} {
		q, err := url.ParseQuery(address)
		require.NoError(t, err)
		p := frame.ParsePeriod(q, now, now, berlin)
		require.Equal(t, want.first+" "+want.last, p.From()+" "+p.Until(), address)
		require.Equal(t, want.refused, p.Refused, address)
	}
}

// Two people who change settings at the same time do not undo each other's changes.
func TestOnlyWhatChangedIsSent(t *testing.T) {
	t.Parallel()
	typed := frame.Remember(url.Values{"name": {"Acme"}, "zone": {"UTC"}, "about": {"leads", "readers"}}, "name", "zone",
		"about", "language", "colour")
	require.Len(t, frame.Form{Values: typed}.Remembered(), 5)
	typed.Set("name", "Acme Ltd")
	typed.Set("zone", "UTC")
	typed.Set("language", "")
	typed.Set("colour", "#fff000")
	for name, want := range map[string]bool{"name": true, "zone": false, "about": false, "language": false,
		"colour": true, "other": true} {
		require.Equal(t, want, frame.Changed(typed, name), name)
	}
	typed["about"] = nil
	require.True(t, frame.Changed(typed, "about"))
}
