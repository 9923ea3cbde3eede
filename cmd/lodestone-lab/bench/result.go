package bench

import (
	"fmt"
	"maps"
	"slices"
)

// Result is what a case found.
type Result struct {
	Name    string        `json:"name"`
	Title   string        `json:"title"`
	Sides   []*SideResult `json:"sides"`
	Targets []Verdict     `json:"targets,omitempty"`
	Took    float64       `json:"took_seconds"`
	Show    []string      `json:"show,omitempty"`
}

// SideResult is the runs of one side, in their order.
type SideResult struct {
	Name string   `json:"name"`
	Runs []Sample `json:"runs"`
}

// Verdict is how a target was met.
type Verdict struct {
	What     string  `json:"target"`
	Value    string  `json:"value"`
	Measured float64 `json:"measured"` // median of the system
	Against  string  `json:"against,omitempty"`
	Limit    float64 `json:"limit,omitempty"` // median of the side that Against names
	// Judged is the median of the ratios to the limit, run by run, or of the value if there is no limit. Low and High bound them.
	Judged float64 `json:"judged"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Met    bool    `json:"met"`
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

func judge(t Target, r *Result) (Verdict, error) {
	system, ok := r.Sides[0].values(t.Value)
	if !ok {
		return Verdict{}, fmt.Errorf("the target %q is about %q, which is not measured", t.What, t.Value)
	}
	v := Verdict{What: t.What, Value: t.Value, Measured: median(system), Against: t.Against}
	judged := slices.Clone(system)
	if t.Against != "" {
		at := slices.IndexFunc(r.Sides, func(s *SideResult) bool { return s.Name == t.Against })
		if at < 0 {
			return Verdict{}, fmt.Errorf("the target %q is against %q, which is no side", t.What, t.Against)
		}
		limit, ok := r.Sides[at].values(t.Value)
		if !ok {
			return Verdict{}, fmt.Errorf("the target %q is about %q, which %s does not measure", t.What, t.Value, t.Against)
		}
		for i := range judged {
			judged[i] /= limit[i]
		}
		v.Limit = median(limit)
	}
	v.Judged, v.Low, v.High = median(judged), slices.Min(judged), slices.Max(judged)
	v.Met = (t.Min == 0 || v.Judged >= t.Min) && (t.Max == 0 || v.Judged <= t.Max)
	return v, nil
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
