package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
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

	others []*Report // that were merged into this one, in order of the files
	images []string  // Markdown of the plots that belong into a document
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

// publish prints the report and writes its file.
func (r *Report) publish(w io.Writer, s Settings) error {
	write := r.write
	if s.Markdown {
		write = r.writeMarkdown
	}
	return errors.Join(write(w), r.save(s.JSON))
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

// write prints every case and then the targets, for a terminal.
func (r *Report) write(w io.Writer) error {
	fmt.Fprintf(w, "\n%s\n%s, seed %d\n\n", r.Machine, r.Began.Format(time.RFC3339), r.Seed)
	for _, result := range r.Results {
		result.print(w)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "case\ttarget\tmeasured\tlimit\tratio\tspread\t")
	for _, result := range r.judged() {
		for _, v := range result.Targets {
			fmt.Fprintln(t, strings.Join(append([]string{result.Name, v.What}, v.cells()...), "\t")+"\t")
		}
	}
	return t.Flush()
}

// writeMarkdown prints the targets, and then each case, as tables.
func (r *Report) writeMarkdown(w io.Writer) error {
	for _, one := range append(slices.Clone(r.others), r) {
		took := one.Took
		if took == "" {
			took = "cut off"
		}
		fmt.Fprintf(w, "- `%s`: %s, %s, seed %d; %s\n", one.Command, one.Began.Format("2 January 2006 15:04 MST"), took, one.Seed, one.Machine)
	}
	fmt.Fprint(w, "\n| What | Target | Measured | Limit | Ratio | Spread | Met | Command |\n|---|---|---|---|---|---|---|---|\n")
	for _, result := range r.judged() {
		for _, v := range result.Targets {
			fmt.Fprintf(w, "| %s | %s | %s | `lodestone-lab bench %s` |\n", result.Title, v.What, strings.Join(v.cells(), " | "), result.command())
		}
	}
	for _, image := range r.images {
		fmt.Fprintf(w, "\n%s\n", image)
	}
	fmt.Fprint(w, "\n<details><summary>Every case: medians of the runs</summary>\n")
	for _, result := range r.Results {
		fmt.Fprintf(w, "\n**`%s`**: %s; %s\n\n", result.Name, result.Title, result.runs())
		names := result.shown()
		fmt.Fprintf(w, "| | %s |\n|---|%s\n", strings.Join(names, " | "), strings.Repeat("---|", len(names)))
		for _, s := range result.Sides {
			fmt.Fprintf(w, "| %s | %s |\n", s.Name, strings.Join(s.cells(names), " | "))
		}
	}
	_, err := fmt.Fprint(w, "\n</details>\n")
	return err
}

// command is what measures a case alone: its name begins with the suite, and perhaps the Kafka.
func (r *Result) command() string {
	suite, rest, _ := strings.Cut(r.Name, "/")
	text := suite
	if r.Flags != "" {
		text += " " + r.Flags
	}
	if kafka, _, _ := strings.Cut(rest, "/"); kafka == Real {
		text += " --kafka " + Real
	}
	if rest != "" {
		text += " --only " + quoted(rest)
	}
	return text
}

// print prints one case for a terminal: a side a line, the medians of its values.
func (r *Result) print(w io.Writer) {
	fmt.Fprintf(w, "%s: %s (%s, %.0f s)\n", r.Name, r.Title, r.runs(), r.Took)
	names := r.shown()
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\t"+strings.Join(names, "\t")+"\t")
	for _, s := range r.Sides {
		fmt.Fprintln(t, s.Name+"\t"+strings.Join(s.cells(names), "\t")+"\t")
	}
	_ = t.Flush() // as with all that is printed for a person to watch
	for _, v := range r.Targets {
		cells := v.cells()
		fmt.Fprintf(w, "  %s: %s, spread %s: %s\n", v.What, cells[0]+ratioOf(cells[2]), cells[3], cells[4])
	}
	fmt.Fprintln(w)
}

// runs says how often each side ran.
func (r *Result) runs() string {
	n := 0
	for _, s := range r.Sides {
		n = max(n, len(s.Runs))
	}
	if n == 1 {
		return "one run"
	}
	return fmt.Sprintf("%d runs a side", n)
}

func ratioOf(ratio string) string {
	if ratio == "" {
		return ""
	}
	return ", ratio " + ratio
}

// shown are the values of a case to print.
func (r *Result) shown() []string {
	if len(r.Show) > 0 {
		return r.Show
	}
	var names []string
	for _, s := range r.Sides {
		for _, name := range s.names() {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// cells are the medians of values; those that a side does not have are empty.
func (s *SideResult) cells(names []string) []string {
	cells := make([]string, len(names))
	for i, name := range names {
		if v, ok := s.Median(name); ok {
			cells[i] = number(v)
		}
	}
	return cells
}

// cells are measured, limit, ratio, spread, met.
func (v Verdict) cells() []string {
	met := "**no**"
	if v.Met {
		met = "yes"
	}
	limit, ratio, spread, write := "", "", "", number
	switch {
	case v.Against != "":
		limit, ratio, write = number(v.Limit), fraction(v.Judged), fraction
	case v.Beside != "":
		limit, ratio = number(v.Limit), fraction(v.Ratio)
	}
	if v.High != 0 {
		spread = write(v.Low) + "–" + write(v.High)
	}
	return []string{number(v.Measured) + " " + v.unit(), limit, ratio, spread, met}
}

// fraction writes a ratio.
func fraction(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

// unit is the part of the value's name that says in what it is measured.
func (v Verdict) unit() string {
	for _, unit := range []string{"µs/event", "MiB", "ms"} {
		if slices.Contains(strings.Fields(v.Value), unit) {
			return unit
		}
	}
	return v.Value
}

// number writes three digits that count, with thin groups of thousands.
func number(v float64) string {
	size := math.Abs(v)
	switch {
	case size >= 1000:
		return group(strconv.FormatFloat(v, 'f', 0, 64))
	case size >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case size >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case size == 0:
		return "0"
	default:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
}

func group(digits string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	var parts []string
	for len(digits) > 3 {
		parts = append([]string{digits[len(digits)-3:]}, parts...)
		digits = digits[:len(digits)-3]
	}
	return sign + strings.Join(append([]string{digits}, parts...), ",")
}
