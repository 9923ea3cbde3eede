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
	Plot    string        `json:"plot,omitempty"`
	X       float64       `json:"x,omitempty"`
	Line    string        `json:"line,omitempty"`

	PlotValues []string `json:"plot_values,omitempty"`
	Flags      string   `json:"flags,omitempty"`
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
	Limit    float64 `json:"limit,omitempty"` // median of the limit
	// Judged is the median of the ratios, or of the value if there is no limit; Low and High are the least and
	// the most of them.
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

// Median returns the median of a value over the runs; false if a run has none.
func (s *SideResult) Median(name string) (float64, bool) {
	all, ok := s.values(name)
	if !ok {
		return 0, false
	}
	return median(all), true
}

// names returns the values that a side has in all its runs.
func (s *SideResult) names() []string {
	if len(s.Runs) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.Runs[0])), func(name string) bool {
		_, ok := s.values(name)
		return !ok
	})
}

func (r *Result) side(name string) *SideResult {
	for _, s := range r.Sides {
		if s.Name == name {
			return s
		}
	}
	return nil
}

func judge(t Target, r *Result) (Verdict, error) {
	of := r.Sides[0]
	if t.Of != "" {
		if of = r.side(t.Of); of == nil {
			return Verdict{}, fmt.Errorf("the target %q is of %q, which is no side", t.What, t.Of)
		}
	}
	system, ok := of.values(t.Value)
	if !ok {
		return Verdict{}, fmt.Errorf("the target %q is about %q, which %s does not measure", t.What, t.Value, of.Name)
	}
	v := Verdict{What: t.What, Value: t.Value, Measured: median(system), Against: t.Against}
	judged := system
	if t.Against != "" {
		name := t.AgainstValue
		if name == "" {
			name = t.Value
		}
		side := r.side(t.Against)
		if side == nil {
			return Verdict{}, fmt.Errorf("the target %q is against %q, which is no side", t.What, t.Against)
		}
		limit, ok := side.values(name)
		if !ok {
			return Verdict{}, fmt.Errorf("the target %q is about %q, which %s does not measure", t.What, name, t.Against)
		}
		v.Limit = median(limit)
		judged = make([]float64, len(system))
		for i := range system {
			judged[i] = system[i] / limit[i]
		}
	}
	v.Judged, v.Low, v.High = median(judged), slices.Min(judged), slices.Max(judged)
	v.Met = (t.AtLeast == 0 || v.Judged >= t.AtLeast) && (t.AtMost == 0 || v.Judged <= t.AtMost)
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
