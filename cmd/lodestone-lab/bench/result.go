package bench

import (
	"cmp"
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
	Beside   string  `json:"beside,omitempty"`
	Limit    float64 `json:"limit,omitempty"` // median of what Against or Beside names
	// Ratio is the median of the ratios to the limit, run by run; 0 if there is no limit.
	Ratio float64 `json:"ratio,omitempty"`
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
	v := Verdict{What: t.What, Value: t.Value, Measured: median(system), Against: t.Against, Beside: t.Beside}
	judged := system
	if name := cmp.Or(t.Against, t.Beside); name != "" {
		limit, err := r.limit(t, name)
		if err != nil {
			return Verdict{}, err
		}
		ratios := make([]float64, len(system))
		for i := range system {
			ratios[i] = system[i] / limit[i]
		}
		v.Limit, v.Ratio = median(limit), median(ratios)
		if t.Against != "" {
			judged = ratios
		}
	}
	v.Judged, v.Low, v.High = median(judged), slices.Min(judged), slices.Max(judged)
	v.Met = (t.AtLeast == 0 || v.Judged >= t.AtLeast) && (t.AtMost == 0 || v.Judged <= t.AtMost)
	return v, nil
}

// limit returns the values that a target's is held against, of the side with this name.
func (r *Result) limit(t Target, name string) ([]float64, error) {
	side, value := r.side(name), cmp.Or(t.AgainstValue, t.Value)
	if side == nil {
		return nil, fmt.Errorf("the target %q is against %q, which is no side", t.What, name)
	}
	values, ok := side.values(value)
	if !ok {
		return nil, fmt.Errorf("the target %q is about %q, which %s does not measure", t.What, value, name)
	}
	return values, nil
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
