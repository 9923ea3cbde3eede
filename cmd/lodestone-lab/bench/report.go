package bench

import (
	"encoding/json"
	"fmt"
	"io"
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
