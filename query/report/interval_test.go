package report

import (
	"archive/zip"
	"slices"
	"sort"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/timezone"
)

// Around New Year, where the library's bounds of zones are those of the year, every zone and
// interval has an answer, and its intervals begin where a clock that is read step by step shows
// another hour, day, week or month.
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
				q := Question{Metrics: []string{"readers"}, From: c.from.Format(time.DateOnly), To: c.to.Format(time.DateOnly),
					Interval: c.unit, Timezone: f.Name, Compare: true}
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

// Days in which clocks are set: none is missing, none is there twice, and the hour that occurs
// twice says so.
func TestIntervalsWhereClocksAreSet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		zone, from, to string
		unit           Interval
		want           int
		among          []string
	}{
		{"America/New_York", "2026-11-01", "2026-11-04", Day, 3, []string{"2026-11-01T00:00:00-04:00",
			"2026-11-02T00:00:00-05:00"}},
		{"Europe/London", "2026-10-25", "2026-10-26", Hour, 25,
			[]string{"2026-10-25T01:00:00+01:00", "2026-10-25T01:00:00Z"}},
		{"Europe/Paris", "2027-03-28", "2027-03-29", Hour, 23, []string{"2027-03-28T03:00:00+02:00"}},
		{"Australia/Lord_Howe", "2027-04-04", "2027-04-05", Hour, 25, []string{"2027-04-04T01:30:00+10:30",
			"2027-04-04T02:00:00+10:30"}},
		{"Atlantic/Azores", "2027-03-27", "2027-03-30", Day, 3, []string{"2027-03-28T01:00:00Z", "2027-03-29T00:00:00Z"}},
		{"America/St_Johns", "2026-12-31", "2027-01-01", Hour, 24, []string{"2026-12-31T20:00:00-03:30",
			"2026-12-31T21:00:00-03:30"}},
		{"Australia/Adelaide", "2027-01-01", "2027-01-02", Hour, 24, []string{"2027-01-01T10:00:00+10:30",
			"2027-01-01T11:00:00+10:30"}},
		{"Europe/Berlin", "2028-12-31", "2029-01-01", Hour, 24, []string{"2028-12-31T23:00:00+01:00"}},
		{"Asia/Calcutta", "2026-11-28", "2026-11-29", Hour, 24, []string{"2026-11-28T00:00:00+05:30"}},
		// 23:15, for the second time
		{"America/St_Johns", "2010-11-07T02:45:00Z", "2010-11-08T00:00:00Z", Day, 1, []string{"2010-11-07T00:00:00-02:30"}},
	} {
		p, wrong := compile(Question{Metrics: []string{"readers"}, From: c.from, To: c.to, Interval: c.unit, Timezone: c.zone,
			Compare: true}, "", date(2030, 1, 1))
		require.Empty(t, wrong)
		var got []string
		for _, at := range p.starts {
			got = append(got, at.Format(time.RFC3339))
		}
		require.Len(t, got, c.want, "%s %s: %s", c.zone, c.from, got)
		require.Subset(t, got, c.among, "%s %s", c.zone, c.from)
		require.True(t, slices.IsSortedFunc(p.starts, time.Time.Compare))
		require.Equal(t, p.before.to, p.asked.from)
	}
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

// turns returns the moments from which something else is shown than before, from the beginning of a
// span on. What lasts less than a step is not seen.
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
		if i := sort.Search(n, func(i int) bool { return shown(zone, time.Unix(first+int64(i), 0), unit) != last }); i < n ||
			end.Before(s.to) {
			list = append(list, first+int64(i))
		}
	}
	return list
}
