package chart

import (
	"slices"
	"strings"
)

// Kind is the role of a line in a chart.
type Kind int

// The kinds of lines.
const (
	Now    Kind = iota // the accent, with its area
	Before             // what it is compared with: grey and dashed
	Second             // another metric of the same unit: dark
)

// Series is a line.
type Series struct {
	Name   string
	Metric string // word in the API; "": none
	Kind   Kind
	Values []float64
}

// Line is values over time. All series have the unit of Format and one value for each label.
type Line struct {
	Title   string
	Labels  []string
	Series  []Series
	Format  Format   // nil: Count
	Partial bool     // the last interval is not over: its part of the line is dotted
	Marks   []Mark   // what happened meanwhile
	Beside  []Series // further columns of the table, of counts: numbers that stand elsewhere
	// Step is the calendar unit of an interval, as scripts need it to explore the chart: hour, day,
	// week or month. "": they do not. First is the first day, as 2026-01-31.
	Step, First string
	Own         Words // of the table and of labels; nil: English
}

// Mark is something that happened in an interval, such as a new version.
type Mark struct {
	At   int // index of its label
	Name string
}

const (
	lineTop    = 16
	lineBottom = 184
	lineHeight = 208
)

// SVG implements Chart.
func (l Line) SVG() string {
	d := draw(l.Title, timed+l.steps(), lineHeight)
	var all []float64
	for _, s := range l.Series {
		all = append(all, s.Values...)
	}
	s := newScale(all, l.Format == nil, lineTop, lineBottom)
	d.grid(s)
	x := edges(len(l.Labels))
	d.stretched(x.width, d.height, func() {
		// The comparison lies below.
		for _, kind := range []Kind{Before, Second, Now} {
			for _, one := range l.Series {
				if one.Kind == kind {
					l.line(d, one, s, x)
				}
			}
		}
	})
	d.values(s, l.Format)
	l.marks(d, x)
	d.group(`fill="`+soft+`"`, func() {
		for _, i := range placesBack(len(l.Labels), 4) {
			side := "middle" // there is space at the right
			if x.share(i) < 0.08 {
				side = "start"
			}
			d.text(x.share(i), lineHeight-4, side, l.Labels[i], "")
		}
	})
	l.names(d, s)
	return d.String()
}

// steps are the attributes by which scripts explore the chart: kinds of its lines, and what its
// intervals are.
func (l Line) steps() string {
	if l.Step == "" {
		return ""
	}
	kinds := make([]string, len(l.Series))
	for i, s := range l.Series {
		kinds[i] = map[Kind]string{Now: "now", Before: "before", Second: "second"}[s.Kind]
	}
	text := ` data-step="` + escape(l.Step) + `" data-first="` + escape(l.First) + `" data-kinds="` +
		strings.Join(kinds, " ") + `"`
	if l.Partial {
		text += " data-partial=\"yes\""
	}
	return text
}

// marks draws an upright line for each mark, with its name at the top.
func (l Line) marks(d *drawing, x axis) {
	d.group(`stroke="`+soft+`" stroke-dasharray="2 3"`, func() {
		for _, m := range l.Marks {
			d.rule(x.share(m.At), lineTop, x.share(m.At), lineBottom)
		}
	})
	d.group(`fill="`+soft+`" font-weight="600" `+over, func() {
		for _, m := range l.Marks {
			d.text(x.share(m.At), lineTop-4, anchor(x.share(m.At)), m.Name, "")
		}
	})
}

// marked returns the label of an interval with the names of its marks.
func (l Line) marked(i int) string {
	names := []string{l.Labels[i]}
	for _, m := range l.Marks {
		if m.At == i {
			names = append(names, m.Name)
		}
	}
	return strings.Join(names, " · ")
}

// grid draws the base and the lines of a scale.
func (d *drawing) grid(s scale) {
	d.group(`stroke="`+hair+`"`, func() {
		for _, v := range append(s.lines(), 0) {
			d.rule(0, s.y(v), 1, s.y(v))
		}
	})
}

// values writes the values of the lines of a scale, at the left above them and over what is drawn.
func (d *drawing) values(s scale, f Format) {
	d.group(`fill="`+soft+`" `+over, func() {
		for _, v := range s.lines() {
			d.text(0, s.y(v)-4, "start", f.written(v), "")
		}
	})
}

func (l Line) line(d *drawing, one Series, s scale, x axis) {
	y := s.all(one.Values)
	done := y
	colour := accent
	switch one.Kind {
	case Before:
		colour = grey
	case Second:
		colour = ink
	case Now:
		if data := area(x, y, lineBottom); data != "" {
			d.write(`<path d="`, data, `" fill="`, accent, `" fill-opacity=".1"/>`)
		}
	}
	d.group(`fill="none" stroke="`+colour+`" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"`, func() {
		if l.Partial && one.Kind != Before && len(y) > 1 {
			done = y[:len(y)-1]
			last := slices.Repeat([]float64{Gap()}, len(y))
			copy(last[len(y)-2:], y[len(y)-2:])
			d.stroke(path(x, last), `stroke-dasharray="1 5"`)
		}
		dash := ""
		if one.Kind == Before {
			dash = `stroke-dasharray="5 5"`
		}
		d.stroke(path(x, done), dash)
		d.stroke(dots(x, y), `stroke-width="5"`)
	})
}

func (d *drawing) stroke(data, attributes string) {
	if data != "" {
		d.write(`<path vector-effect="non-scaling-stroke" d="`, data, `"`, attribute(attributes), `/>`)
	}
}

func (l Line) names(d *drawing, s scale) {
	var labels []label
	for _, one := range l.Series {
		last := len(one.Values) - 1
		for last >= 0 && isGap(one.Values[last]) {
			last--
		}
		if last >= 0 && one.Name != "" {
			colour := map[Kind]string{Now: accent, Before: soft, Second: ink}[one.Kind]
			labels = append(labels, label{one.Name + " " + l.Format.written(one.Values[last]),
				colour, s.y(one.Values[last]) + 4})
		}
	}
	d.ends(labels)
}

// Table implements Chart.
func (l Line) Table() Table {
	t := Table{Title: l.Title, Head: []string{l.Own.of("Time")}}
	all := slices.Concat(l.Series, l.Beside)
	for _, s := range all {
		t.Head = append(t.Head, s.Name)
	}
	for i := range l.Labels {
		row := []Cell{{Text: l.marked(i)}}
		for n, s := range all {
			v, format := Gap(), l.Format
			if i < len(s.Values) {
				v = s.Values[i]
			}
			if n >= len(l.Series) {
				format = Count
			}
			cell := figure(s.Metric, v, format)
			if s.Kind == Before {
				cell.Metric, cell.Exact = "", true
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
