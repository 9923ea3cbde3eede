package bench

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Result is the result of a case.
type Result struct {
	Name, Title string
	Sides       []*SideResult
	Took        time.Duration
}

// SideResult is the runs of one side, in their order.
type SideResult struct {
	Name string
	Runs []Sample
}

// markdown is a table with a line a value: the medians of the runs of each side, and the ratios to
// each limit, run by run, with their least and greatest.
func (r *Result) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n**`%s`**: %s; %d runs a side, %.0f s\n\n|", r.Name, r.Title, len(r.Sides[0].Runs), r.Took.Seconds())
	all := Sample{}
	for _, s := range r.Sides {
		fmt.Fprintf(&b, " | %s", s.Name)
		for _, run := range s.Runs {
			maps.Copy(all, run)
		}
	}
	for _, limit := range r.Sides[1:] {
		fmt.Fprintf(&b, " | beside %s", limit.Name)
	}
	fmt.Fprintf(&b, " |\n|---|%s\n", strings.Repeat("--:|", 2*len(r.Sides)-1))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&b, "| %s", name)
		own, ok := r.Sides[0].values(name)
		var ratios strings.Builder
		for i, s := range r.Sides {
			median, ratio := "", ""
			if values, has := s.values(name); has {
				median = number(medianOf(values))
				if ok && i > 0 && slices.Min(values) > 0 {
					for run := range values {
						values[run] = own[run] / values[run]
					}
					ratio = fmt.Sprintf("%s (%s–%s)", number(medianOf(values)), number(slices.Min(values)), number(slices.Max(values)))
				}
			}
			fmt.Fprintf(&b, " | %s", median)
			if i > 0 {
				ratios.WriteString(" | " + ratio)
			}
		}
		fmt.Fprintf(&b, "%s |\n", ratios.String())
	}
	return b.String()
}

// number writes three significant digits, and commas between groups of thousands.
func number(v float64) string {
	decimals := 2
	switch size := math.Abs(v); {
	case size >= 100 || size == 0:
		decimals = 0
	case size >= 10:
		decimals = 1
	}
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if decimals == 0 {
		for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
			text = text[:at] + "," + text[at:]
		}
	}
	return text
}

// values returns a value of all runs; false if a run has none.
func (s *SideResult) values(name string) ([]float64, bool) {
	all := make([]float64, 0, len(s.Runs))
	for _, r := range s.Runs {
		v, ok := r[name]
		if !ok {
			return nil, false
		}
		all = append(all, v)
	}
	return all, len(all) > 0
}

func medianOf(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	if len(sorted) == 0 {
		return 0
	}
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}
