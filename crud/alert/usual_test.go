package alert_test

import (
	"bufio"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/crud/alert"
	"lodestone/pkg/timezone"
)

// recorded returns the days of a file of testdata, by their dates. A day without a record has the
// count of the week before.
func recorded(t *testing.T, name string) (days []float64, dates []string) {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	var day time.Time
	for lines := bufio.NewScanner(f); lines.Scan(); {
		date, count, found := strings.Cut(lines.Text(), ",")
		at, err := time.Parse(time.DateOnly, date)
		if !found || err != nil {
			continue // a comment
		}
		for !day.IsZero() && at.Sub(day) > 24*time.Hour {
			day = day.Add(24 * time.Hour)
			days, dates = append(days, days[len(days)-7]), append(dates, day.Format(time.DateOnly))
		}
		n, err := strconv.ParseFloat(count, 64)
		require.NoError(t, err)
		day, days, dates = at, append(days, n), append(dates, date)
	}
	return days, dates
}

// unusual are the days on which an alert would begin: those that are unusual after one that is not,
// or is so in the other direction.
func unusual(days []float64, dates []string) map[string]string {
	began, before := map[string]string{}, ""
	for i, n := range days {
		usual, ok := alert.UsualDay(days, i)
		is := ""
		switch {
		case !ok || usual.Has(n):
		case n > usual.High:
			is = "above"
		default:
			is = "below"
		}
		if is != "" && is != before {
			began[dates[i]] = is
		}
		before = is
	}
	return began
}

// In three years of a page with a weekly pattern, growth and the terms of universities, what is
// found is what one would like to know, and not much else.
func TestRecordedYears(t *testing.T) {
	t.Parallel()
	days, dates := recorded(t, "wikipedia_r.csv")
	found := unusual(days, dates)
	for date, want := range map[string]string{
		"2011-12-23": "below", // Wikimedia lost records
		"2012-12-25": "below", // holidays
		"2013-07-24": "below", // records were lost
		"2013-12-25": "below",
		"2014-07-26": "above", // the page went round
		"2014-12-06": "above",
		"2014-12-24": "below",
	} {
		require.True(t, slices.Contains(dates, date))
		require.Equal(t, want, found[date], "%s: %v", date, found)
	}
	years := map[string]int{}
	for date := range found {
		years[date[:4]]++
	}
	for year, n := range years {
		require.LessOrEqual(t, n, 14, "alerts of %s: %v", year, found)
	}
	for date := range found { // an ordinary half of a year
		require.False(t, "2013-02-01" < date && date < "2013-07-20", date)
	}
}

// week is the mean of each hour of a generated week: few at night, most on the mornings of working
// days, a fifth of that on weekends. All hours together are about 1,000.
func week(at time.Time) float64 {
	mean := [24]float64{1, 0, 0, 0, 0, 1, 2, 6, 14, 20, 20, 16, 12, 14, 16, 14, 12, 8, 6, 5, 4, 3, 2, 1}[at.Hour()]
	if at.Weekday() == time.Saturday || at.Weekday() == time.Sunday {
		mean /= 5
	}
	return mean
}

// generated returns hours of weeks before a time: counts of a Poisson distribution with a seed.
func generated(until time.Time, weeks int, share float64) (hours []alert.Hour) {
	random := rand.New(rand.NewPCG(1, 2))
	for at := until.AddDate(0, 0, -7*weeks); at.Before(until); at = at.Add(time.Hour) {
		n, left := -1.0, week(at)*share // arrivals of an hour
		for ; left >= 0; n++ {
			left -= random.ExpFloat64()
		}
		hours = append(hours, alert.Hour{Start: at, Count: n})
	}
	return hours
}

// silence cuts off all visits from a time on, and returns the hours until the page counts as
// silent; -1 if it does not within six days.
func silence(zone *time.Location, from time.Time, share float64) int {
	const longest = 6 * 24
	hours := generated(from.Add(longest*time.Hour).In(zone), 10, share)
	for i := range hours {
		if !hours[i].Start.Before(from) {
			hours[i].Count = 0
		}
	}
	for n := 1; n <= longest; n++ {
		until := from.Add(time.Duration(n) * time.Hour)
		if _, _, ok := alert.Silence(hours[:len(hours)-longest+n], until.In(zone)); ok {
			return n
		}
	}
	return -1
}

// A silence is noticed after as long as a page needs for some visits: in the morning soon, on a
// Saturday on Monday, on a quiet page after days, and on one with hardly any visits never.
func TestSilence(t *testing.T) {
	t.Parallel()
	zone := timezone.OrUTC("Europe/Berlin")
	at := func(day, hour int) time.Time { return time.Date(2026, 11, day, hour, 0, 0, 0, zone) }
	require.LessOrEqual(t, silence(zone, at(11, 10), 1), 3, "Wednesday morning")
	for _, begin := range []time.Time{at(11, 21), at(13, 20)} {
		n := silence(zone, begin, 1)
		end := begin.Add(time.Duration(n) * time.Hour)
		require.GreaterOrEqual(t, end.Hour(), 8, "%s: after %d hours", begin, n)
	}
	quiet := silence(zone, at(11, 10), 0.1)
	require.Greater(t, quiet, 6)
	require.Less(t, quiet, 72)
	require.Equal(t, -1, silence(zone, at(11, 10), 0.01))
}

// Ordinary weeks have no silence at any hour, neither when clocks change: on 25 October and on 29
// March.
func TestOrdinaryWeeksAreNotSilent(t *testing.T) {
	t.Parallel()
	zone := timezone.OrUTC("Europe/Berlin")
	for _, end := range []time.Time{time.Date(2026, 11, 16, 0, 0, 0, 0, zone), time.Date(2027, 4, 12, 0, 0, 0, 0, zone)} {
		for _, share := range []float64{1, 0.3, 0.1} {
			hours := generated(end, 14, share)
			for i := 9 * 7 * 24; i < len(hours); i++ {
				since, usual, silent := alert.Silence(hours[:i], hours[i].Start)
				require.False(t, silent, "%s: since %s, usual is %v", hours[i].Start, since, usual)
			}
		}
	}
}

// Small numbers, few weeks and an outage among the weeks before cause no alert.
func TestUsual(t *testing.T) {
	t.Parallel()
	for name, before := range map[string][]float64{
		"nothing": {0, 0, 0, 0, 0, 0, 0, 0}, "little": {2, 0, 1, 3, 0, 0, 2, 1},
	} {
		usual, ok := alert.Usual(before)
		require.True(t, ok)
		require.True(t, usual.Has(0) && usual.Has(10), "%s: %v", name, usual)
		require.False(t, usual.Has(30), "%s: %v", name, usual)
	}
	_, ok := alert.Usual([]float64{100, 100, 100})
	require.False(t, ok)
	usual, ok := alert.Usual([]float64{100, 104, 96, 0, 101, 99, 103, 98})
	require.True(t, ok)
	require.True(t, usual.Has(80) && usual.Has(120))
	require.False(t, usual.Has(20) || usual.Has(200))
	_, ok = alert.UsualDay(append(make([]float64, 60), 5), 60)
	require.False(t, ok, "a page that is new has no usual range")
}
