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

// Result is what a case found.
type Result struct {
	Name, Title string
	Sides       []*SideResult
	Took        time.Duration
	Show        []string
}

// SideResult is the runs of one side, in their order.
type SideResult struct {
	Name string
	Runs []Sample
}

// markdown is a table: the medians of the runs, a side a line, and below them the ratios to each limit, run by run, with their
// least and greatest.
func (r *Result) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n**`%s`**: %s; %d runs a side, %.0f s\n\n", r.Name, r.Title, len(r.Sides[0].Runs), r.Took.Seconds())
	names := r.shown()
	fmt.Fprintf(&b, "| | %s |\n|---|%s\n", strings.Join(names, " | "), strings.Repeat("---|", len(names)))
	line := func(head string, cell func(name string) string) {
		fmt.Fprintf(&b, "| %s", head)
		for _, name := range names {
			b.WriteString(" | " + cell(name))
		}
		b.WriteString(" |\n")
	}
	for _, s := range r.Sides {
		line(s.Name, func(name string) string {
			if values, ok := s.values(name); ok {
				return number(median(values))
			}
			return ""
		})
	}
	for _, limit := range r.Sides[1:] {
		line("beside "+limit.Name, func(name string) string {
			ratios, ok := r.Sides[0].values(name)
			against, both := limit.values(name)
			if !ok || !both {
				return ""
			}
			for i := range ratios {
				if against[i] == 0 {
					return ""
				}
				ratios[i] /= against[i]
			}
			return fmt.Sprintf("%s (%s–%s)", number(median(ratios)), number(slices.Min(ratios)), number(slices.Max(ratios)))
		})
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

// shown are the values of a case to print.
func (r *Result) shown() []string {
	if len(r.Show) > 0 {
		return r.Show
	}
	all := Sample{}
	for _, s := range r.Sides {
		for _, run := range s.Runs {
			maps.Copy(all, run)
		}
	}
	return slices.Sorted(maps.Keys(all))
}

func median(values []float64) float64 {
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
