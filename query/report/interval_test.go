package report

import (
	"archive/zip"
	"sort"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/timezone"
)

// Around New Year, where the library's bounds of zones are those of the year, every zone and interval has an answer, and
// its intervals begin where a clock that is read step by step shows another hour, day, week or month.
func TestIntervalsAtNewYear(t *testing.T) {
	t.Parallel()
	archive, err := zip.OpenReader("../../pkg/timezone/zoneinfo.zip")
	require.NoError(t, err)
	defer archive.Close()
	zones := 0
	for _, f := range archive.File {
		if f.FileInfo().IsDir() {
			continue
		}
		zones++
		zone, err := timezone.Load(f.Name)
		require.NoError(t, err)
		for _, year := range []int{1971, 2024, 2026, 2028, 2040, 2100} {
			for _, c := range []struct {
				unit     Interval
				from, to time.Time
				step     time.Duration
			}{
				{Hour, date(year, 12, 31), date(year+1, 1, 2), 15 * time.Minute},
				{Day, date(year, 12, 30), date(year+1, 1, 2), time.Hour},
				{Week, date(year, 12, 17), date(year+1, 1, 9), 3 * time.Hour},
				{Month, date(year, 11, 30), date(year+1, 2, 2), 12 * time.Hour},
			} {
				q := Question{Metrics: []string{"readers"}, From: c.from.Format(time.DateOnly), To: c.to.Format(time.DateOnly), Interval: c.unit, Timezone: f.Name, Compare: true}
				p, wrong := compile(q, "", date(year+1, 6, 1))
				require.Empty(t, wrong, "%s %d %s", f.Name, year, c.unit)
				got := unix(p.starts)
				got[0] = p.asked.from.Unix() // it may begin before the range
				require.Equal(t, turns(zone, p.asked, c.unit, c.step), got, "%s %d %s", f.Name, year, c.unit)
			}
		}
	}
	require.Greater(t, zones, 590)
}

func date(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

func unix(list []time.Time) (seconds []int64) {
	for _, at := range list {
		seconds = append(seconds, at.Unix())
	}
	return seconds
}

// shown is a number for what a clock and a calendar show. It differs between intervals.
func shown(zone *time.Location, at time.Time, unit Interval) int64 {
	_, offset := at.In(zone).Zone()
	wall := at.Unix() + int64(offset)
	day := floor(wall, 86400)
	switch unit {
	case Hour:
		return floor(wall, 3600)*1_000_000 + int64(offset)
	case Week:
		return floor(day+3, 7) // 1 January 1970 was a Thursday
	case Month:
		year, month, _ := time.Unix(wall, 0).UTC().Date()
		return int64(year)*12 + int64(month)
	case Day, Whole:
	}
	return day
}

func floor(n, by int64) int64 { return (n - ((n%by)+by)%by) / by }

// turns returns the moments from which something else is shown than before, from the beginning of a span on. What lasts less
// than a step is not seen.
func turns(zone *time.Location, s span, unit Interval, step time.Duration) []int64 {
	list := []int64{s.from.Unix()}
	for at := s.from; at.Before(s.to); at = at.Add(step) {
		last := shown(zone, at, unit)
		end := at.Add(step)
		if end.After(s.to) {
			end = s.to
		}
		n := int(end.Sub(at)/time.Second) - 1 // the end of the span is not in it
		if shown(zone, end, unit) == last {
			continue
		}
		first := at.Unix() + 1
		if i := sort.Search(n, func(i int) bool { return shown(zone, time.Unix(first+int64(i), 0), unit) != last }); i < n || end.Before(s.to) {
			list = append(list, first+int64(i))
		}
	}
	return list
}
