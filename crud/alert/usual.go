package alert

import (
	"math"
	"slices"
	"time"
)

// The method of docs/tell.md.
const (
	weeks    = 8 // that are looked back
	minWeeks = 4 // with fewer, nothing is usual
	spreads  = 4 // from the median to either end of the range
	// normal makes the median absolute deviation the standard deviation of a normal distribution.
	normal    = 1.4826
	minSpread = 3   // however small the numbers are
	minShare  = 0.1 // of the median, however regular the numbers are
)

// Range is the usual range of a number, both ends included.
type Range struct{ Low, High float64 }

// Has reports whether a number is usual.
func (r Range) Has(n float64) bool { return r.Low <= n && n <= r.High }

// Usual returns the usual range of a number from what it was at comparable times. It reports false
// if there were too few.
func Usual(before []float64) (r Range, ok bool) {
	if len(before) < minWeeks {
		return r, false
	}
	middle := median(before)
	distances := make([]float64, len(before))
	for i, n := range before {
		distances[i] = math.Abs(n - middle)
	}
	spread := max(normal*median(distances), math.Sqrt(middle), minShare*middle, minSpread)
	return Range{middle - spreads*spread, middle + spreads*spread}, true
}

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// UsualDay returns the usual range of a day of a series of days: that of the same weekday in the
// weeks before it. The series begins with its first day that is not zero.
func UsualDay(days []float64, i int) (Range, bool) {
	first := slices.IndexFunc(days, func(n float64) bool { return n > 0 })
	var before []float64
	for k := 1; k <= weeks; k++ {
		if at := i - 7*k; first >= 0 && at >= first {
			before = append(before, days[at])
		}
	}
	return Usual(before)
}

// Hour is the count of an hour.
type Hour struct {
	Start time.Time
	Count float64
}

// Silence reports whether hours, in their order, are followed by a silence that is unusual: zero is
// below the usual range of the same stretch of the week. The stretch begins after the last hour
// with a count, at most a week before until, and ends there. Weeks are those of until's time zone.
func Silence(hours []Hour, until time.Time) (since time.Time, usual Range, ok bool) {
	since = until.AddDate(0, 0, -7)
	var first time.Time
	for _, h := range hours {
		if h.Count == 0 {
			continue
		}
		if first.IsZero() {
			first = h.Start
		}
		if end := h.Start.Add(time.Hour); end.After(since) {
			since = end
		}
	}
	if first.IsZero() || !since.Before(until) {
		return since, usual, false
	}
	var before []float64
	for k := 1; k <= weeks; k++ {
		from, to := since.In(until.Location()).AddDate(0, 0, -7*k), until.AddDate(0, 0, -7*k)
		if from.Before(first) {
			break
		}
		sum := 0.0
		for _, h := range hours {
			if !h.Start.Before(from) && h.Start.Before(to) {
				sum += h.Count
			}
		}
		before = append(before, sum)
	}
	usual, ok = Usual(before)
	return since, usual, ok && usual.Low > 0
}
