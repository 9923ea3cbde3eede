package chart

import "html/template"

// Spark is a line without axes, beside a number.
type Spark struct {
	Title  string
	Labels []string
	Metric string
	Values []float64
	Format Format
	Behind string // id of the element with the numbers, where many pictures share a table; "": none
}

const (
	sparkHeight = 32
	sparkUnits  = 2 * sparkHeight // in its height: whole pixels would be seen
)

// SVG implements Chart.
func (c Spark) SVG() string {
	class := plain
	if c.Behind != "" {
		class = ` aria-details="` + escape(c.Behind) + `"`
	}
	d := draw(c.Title, class, sparkHeight)
	s := newScale(c.Values, false, 6, sparkUnits-6)
	x := edges(len(c.Values))
	y := s.all(c.Values)
	d.stretched(x.width, sparkUnits, func() {
		if data := area(x, y, sparkUnits); data != "" {
			d.write(`<path d="`, data, `" fill="`, accent, `" fill-opacity=".1"/>`)
		}
		d.group(`fill="none" stroke="`+accent+`" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round"`, func() {
			d.stroke(path(x, y), "")
		})
	})
	return d.String()
}

// Table implements Chart.
func (c Spark) Table() Table {
	return Line{Title: c.Title, Labels: c.Labels, Series: []Series{{Name: c.Title, Metric: c.Metric, Values: c.Values}},
		Format: c.Format}.Table()
}

// Proportion is a thin bar from 0 to 1, beside a number in a table. It says nothing that the number
// does not.
func Proportion(share float64) template.HTML {
	d := &drawing{height: shareHeight}
	d.write(`<svg width="100%" height="`, number(shareHeight), `" aria-hidden="true">`)
	d.group(`fill="`+accent+`"`, func() { d.rect(0, 0, min(finite(share), 1), shareHeight, `rx="1"`) })
	return template.HTML(d.String()) //nolint:gosec // numbers only
}

const shareHeight = 4
