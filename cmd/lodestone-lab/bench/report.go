package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Report is everything that one execution found. Its JSON is what --json writes.
type Report struct {
	Machine Machine   `json:"machine"`
	Command string    `json:"command"`
	Began   time.Time `json:"began"`
	Took    string    `json:"took"`
	Runs    int       `json:"runs"`
	Seed    uint64    `json:"seed"`
	Quick   bool      `json:"quick,omitempty"`
	Results []*Result `json:"results"`
}

// Result returns what a case found, nil if it was not measured.
func (r *Report) Result(name string) *Result {
	for _, one := range r.Results {
		if one.Name == name {
			return one
		}
	}
	return nil
}

// save writes the report's JSON, unless the file has no name.
func (r *Report) save(file string) error {
	if file == "" {
		return nil
	}
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644) //nolint:gosec // figures, for everybody
}

// write prints the targets, and then each case, as Markdown.
func (r *Report) write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n`%s`: %s, %s, seed %d; %s\n\n", r.Command, r.Began.Format("2 January 2006 15:04 MST"), r.Took, r.Seed, r.Machine)
	b.WriteString("| Case | Target | Measured | Limit | Ratio | Spread | Met |\n|---|---|---|---|---|---|---|\n")
	for _, result := range r.Results {
		for _, v := range result.Targets {
			fmt.Fprintf(&b, "| `%s` | %s |\n", result.Name, strings.Join(v.cells(), " | "))
		}
	}
	for _, result := range r.Results {
		b.WriteString(result.markdown())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// markdown is a table of the medians of the runs: a side a line.
func (r *Result) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n**`%s`**: %s; %d runs a side, %.0f s\n\n", r.Name, r.Title, len(r.Sides[0].Runs), r.Took)
	names := r.shown()
	fmt.Fprintf(&b, "| | %s |\n|---|%s\n", strings.Join(names, " | "), strings.Repeat("---|", len(names)))
	for _, s := range r.Sides {
		fmt.Fprintf(&b, "| %s", s.Name)
		for _, name := range names {
			cell := ""
			if values, ok := s.values(name); ok {
				cell = number(median(values))
			}
			fmt.Fprintf(&b, " | %s", cell)
		}
		b.WriteString(" |\n")
	}
	return b.String()
}

// cells are target, measured, limit, ratio, spread, met.
func (v Verdict) cells() []string {
	limit, ratio, met := "", "", "**no**"
	if v.Met {
		met = "yes"
	}
	if v.Against != "" {
		limit, ratio = number(v.Limit), number(v.Judged)
	}
	unit := v.Value
	for _, u := range []string{"µs/event", "MiB", "ms"} {
		if slices.Contains(strings.Fields(v.Value), u) {
			unit = u
		}
	}
	return []string{v.What, number(v.Measured) + " " + unit, limit, ratio, number(v.Low) + "–" + number(v.High), met}
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
