package bench

import (
	"fmt"
	"slices"
	"strings"
)

// withinTwo is how many times as long a list may take with the most events as with the fewest.
const withinTwo = 2

// judged returns what cases found and, if lists were measured with several numbers of events, how much they grew.
func (r *Report) judged() []*Result {
	var sizes []*Result
	for _, one := range r.Results {
		if one.Plot == "query" && one.Line == firstPages {
			sizes = append(sizes, one)
		}
	}
	if len(sizes) < 2 {
		return r.Results
	}
	slices.SortFunc(sizes, func(a, b *Result) int { return int(a.X - b.X) })
	least, most := sizes[0].X, sizes[len(sizes)-1].X
	rows := make([]string, len(sizes))
	for i, s := range sizes {
		rows[i] = fmt.Sprintf("%.0f", s.X)
	}
	growth := &Result{
		Name:  "query/first page",
		Title: fmt.Sprintf("GET /api/v1/analytics, from %s to %s events: the slowest beside the quickest", million(int64(least)), million(int64(most))),
		Flags: "--query-rows " + strings.Join(rows, ","),
	}
	for _, value := range []string{Latency(0.5), Latency(0.99)} {
		if v, ok := grown(sizes, value); ok {
			growth.Targets = append(growth.Targets, v)
		}
	}
	return append(slices.Clone(r.Results), growth)
}

// grown judges the medians of a value over cases; false if one does not have it. There is no spread, as no two runs of theirs
// stood side by side.
func grown(cases []*Result, value string) (Verdict, bool) {
	var medians []float64
	for _, c := range cases {
		m, ok := c.Sides[0].Median(value)
		if !ok {
			return Verdict{}, false
		}
		medians = append(medians, m)
	}
	low, high := slices.Min(medians), slices.Max(medians)
	ratio := high / low
	return Verdict{
		What: strings.TrimSuffix(value, " ms") + " within a factor of two", Value: value, Measured: high, Against: "quickest", Limit: low, Ratio: ratio,
		Judged: ratio, Met: ratio <= withinTwo,
	}, true
}
