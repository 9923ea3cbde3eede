package chart

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Heat is a grid of values by two properties, such as weekday and hour. Darker is more.
type Heat struct {
	Title   string
	Name    string // of the rows: Weekday
	Metric  string
	Rows    []string
	Columns []string
	Across  string      // words for a column, with {at} for its name: {at}:00
	Values  [][]float64 // by row; a gap is left empty
	Format  Format
	Written bool // each value is written into its field
}

const (
	heatGutter = 0.14 // for the names of rows
	heatHead   = 18
	heatLow    = 22
	heatHigh   = 32
)

// SVG implements Chart.
func (h Heat) SVG() string {
	row := float64(heatLow)
	if h.Written {
		row = heatHigh
	}
	class := cells
	if h.Across != "" {
		class += ` data-across="` + escape(h.Across) + `"`
	}
	d := draw(h.Title, class, heatHead+row*float64(max(len(h.Rows), 1)))
	width := (1 - heatGutter) / float64(max(len(h.Columns), 1))
	left := func(i int) float64 { return heatGutter + float64(i)*width }
	d.group(`fill="`+soft+`"`, func() {
		for _, i := range places(len(h.Columns), 9) {
			d.text(left(i)+width/2, 12, "middle", h.Columns[i], "")
		}
		for i, name := range h.Rows {
			d.text(0, heatHead+row*float64(i)+row/2+4, "start", name, "")
		}
	})
	highest := 0.0
	for _, r := range h.Values {
		for _, v := range r {
			highest = max(highest, finite(v))
		}
	}
	h.fields(d, row, highest)
	if h.Written {
		d.group(`fill="`+ink+`"`, func() {
			h.each(func(r, c int, v float64) {
				d.text(left(c)+width/2, heatHead+row*float64(r)+row/2+4, "middle", h.Format.written(v), "")
			})
		})
	}
	return d.String()
}

// fields draws the fields in units of a column and of a row, those of the same shade as one path: a
// grid of a week has 168 of them. Neighbours are one line, and dashes part them.
func (h Heat) fields(d *drawing, row, highest float64) {
	shades := map[string]*run{}
	h.each(func(r, c int, v float64) {
		s := shade(v, highest)
		if shades[s] == nil {
			shades[s] = &run{}
		}
		shades[s].add(c, r)
	})
	if len(shades) == 0 {
		return
	}
	d.write(`<svg x="`, percent(heatGutter), `" y="`, number(heatHead), `" width="`, percent(1-heatGutter), `" height="`,
		number(row*float64(len(h.Rows))),
		`" viewBox="-.05 -.5 `, strconv.Itoa(len(h.Columns)), ` `, strconv.Itoa(len(h.Rows)),
		`" preserveAspectRatio="none" stroke="`, accent, `" stroke-width=".9" stroke-dasharray=".9 .1">`)
	for _, s := range slices.Sorted(maps.Keys(shades)) {
		d.write(`<path stroke-opacity="`, s, `" d="`, shades[s].String(), `"/>`)
	}
	d.write("</svg>")
}

// run writes the data of a path of fields, by row and column.
type run struct {
	pen
	fields int // of the line that has not been written yet; it ends at the point of the pen
}

func (r *run) add(column, row int) {
	if r.fields == 0 || column != r.x || row != r.y {
		first := r.b.Len() == 0 && r.fields == 0
		r.end()
		if first {
			r.moveTo(float64(column), float64(row))
		} else {
			r.b.WriteByte('m')
			r.step(column-r.x, false)
			r.step(row-r.y, true)
			r.x, r.y = column, row
		}
	}
	r.fields++
	r.x++
}

func (r *run) end() {
	if r.fields > 0 {
		r.b.WriteString("h" + strconv.Itoa(r.fields))
	}
	r.fields = 0
}

func (r *run) String() string {
	r.end()
	return r.b.String()
}

func (h Heat) each(fn func(row, column int, v float64)) {
	for r := range h.Rows {
		for c := range h.Columns {
			if r < len(h.Values) && c < len(h.Values[r]) && !isGap(h.Values[r][c]) {
				fn(r, c, h.Values[r][c])
			}
		}
	}
}

// shade returns the opacity of a value, one of 6, which the eye can tell apart. The darkest leaves
// text on it readable in both schemes.
func shade(v, highest float64) string {
	share := 0.0
	if highest > 0 {
		share = finite(v) / highest
	}
	return strings.TrimPrefix(strconv.FormatFloat(0.05+math.Round(5*share)*0.08, 'f', 2, 64), "0")
}

// Table implements Chart.
func (h Heat) Table() Table {
	t := Table{Title: h.Title, Head: append([]string{h.Name}, h.Columns...)}
	for r, name := range h.Rows {
		row := []Cell{{Text: name}}
		for c := range h.Columns {
			v := Gap()
			if r < len(h.Values) && c < len(h.Values[r]) {
				v = h.Values[r][c]
			}
			row = append(row, figure(h.Metric, v, h.Format))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
