package soak

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"lodestone/pkg/chart"
)

// The picture: a chart of each kind of process below the other.
const (
	plotWidth  = 860
	plotLeft   = 16
	plotInner  = 700 // the rest is for names at the right
	plotRow    = 262
	plotPoints = 360
	plotHead   = 34 // of a chart: its title
	plotNames  = 4  // of operations in a line
)

// plot draws the resident memory of the processes of Lodestone and of the engines.
func (s *samples) plot() string {
	if len(s.all) == 0 {
		return ""
	}
	end := s.all[len(s.all)-1].at
	step := max(end/plotPoints, 2*s.every) // no interval without a sample
	count := int(end/step) + 1
	lines, kinds := s.lines(step, count)
	marks, legend := s.operations(step)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" role="img" aria-label="Resident memory of each process over time">`, plotWidth, plotRow*len(kinds)+20*len(legend))
	b.WriteString(`<style>svg{background:var(--ground,#fff);overflow:visible} text{font:12px -apple-system,"Segoe UI","Noto Sans",Helvetica,Arial,sans-serif} .t{font-size:14px;font-weight:600;fill:#16191d}</style>`)
	for i, kind := range kinds {
		line := chart.Line{
			Title: kind + ": resident memory", Labels: labels(step, count), Series: lines[kind], Format: func(v float64) string { return fmt.Sprintf("%.0f MiB", v) }, Marks: marks,
		}
		top := i * plotRow
		fmt.Fprintf(&b, `<text class="t" x="%d" y="%d">%s</text><svg x="%d" y="%d" width="%d" height="%d" overflow="visible">%s</svg>`,
			plotLeft, top+22, kind, plotLeft, top+plotHead, plotInner, plotRow-plotHead, line.SVG())
	}
	for i, line := range legend {
		fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`, plotLeft, plotRow*len(kinds)+14+20*i, line)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// operations returns a mark with a letter for each operation that is no kill, and what the letters stand for.
func (s *samples) operations(step time.Duration) (marks []chart.Mark, legend []string) {
	var names []string
	for _, m := range s.marks {
		if m.name == "" || strings.HasPrefix(m.name, "kill") {
			continue
		}
		letter := string(rune('A' + len(marks)))
		marks = append(marks, chart.Mark{At: int(m.at / step), Name: letter})
		names = append(names, letter+": "+m.name)
	}
	for some := range slices.Chunk(names, plotNames) {
		legend = append(legend, strings.Join(some, ", "))
	}
	return marks, legend
}

// lines returns the values of each process by its kind: the largest of an interval, and a gap where it does not run.
func (s *samples) lines(step time.Duration, count int) (lines map[string][]chart.Series, kinds []string) {
	values := map[string][]float64{}
	var order []string
	engines := map[string]bool{}
	for _, one := range s.all {
		if values[one.process] == nil {
			values[one.process] = make([]float64, count)
			for i := range count {
				values[one.process][i] = chart.Gap()
			}
			order = append(order, one.process)
			engines[one.process] = one.engine
		}
		of, i, v := values[one.process], int(one.at/step), float64(one.resident)/mebibyte
		if math.IsNaN(of[i]) || of[i] < v {
			of[i] = v
		}
	}
	slices.SortFunc(order, func(a, b string) int {
		if engines[a] != engines[b] {
			if engines[b] {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	lines = map[string][]chart.Series{}
	for _, process := range order {
		kind := strings.TrimRight(process, "0123456789")
		if lines[kind] == nil {
			kinds = append(kinds, kind)
		}
		if n := len(lines[kind]); n < 3 {
			lines[kind] = append(lines[kind], chart.Series{Name: process, Kind: []chart.Kind{chart.Now, chart.Second, chart.Before}[n], Values: values[process]})
		}
	}
	return lines, kinds
}

// labels are minutes.
func labels(step time.Duration, count int) []string {
	all := make([]string, count)
	for i := range all {
		all[i] = fmt.Sprintf("%.0f min", (time.Duration(i) * step).Minutes())
	}
	return all
}
