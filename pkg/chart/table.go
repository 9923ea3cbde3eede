package chart

import (
	"cmp"
	"strconv"
	"strings"
)

// Table is the numbers of a chart.
type Table struct {
	Title string
	Head  []string
	Rows  [][]Cell // the first cell of each names the row
}

// Cell is a number, or the name of a row.
type Cell struct {
	Text   string
	URL    string  // where the number leads: the people behind it; "": nowhere
	Metric string  // word of the number in the API; "": none
	Value  float64 // exact, for Metric; a gap has none
	Exact  bool    // Value is exact also without Metric: a number of another time
}

// figure returns a cell with a number.
func figure(metric string, v float64, f Format) Cell {
	return Cell{Text: f.written(v), Metric: metric, Value: v}
}

// HTML returns an element table.
func (t Table) HTML() string {
	var b strings.Builder
	b.WriteString(`<table><caption class="unseen">` + escape(t.Title) + `</caption><thead><tr>`)
	for _, h := range t.Head {
		b.WriteString(`<th scope=col>` + escape(h))
	}
	b.WriteString(`<tbody>`)
	for _, row := range t.Rows {
		b.WriteString("<tr>")
		for i, c := range row {
			if i == 0 {
				b.WriteString(`<th scope=row>` + c.html())
			} else {
				b.WriteString("<td" + c.data() + ">" + c.html())
			}
		}
	}
	b.WriteString("</table>")
	return b.String()
}

func (c Cell) html() string {
	if c.URL == "" {
		return escape(c.Text)
	}
	return `<a href="` + escape(c.URL) + `">` + escape(c.Text) + `</a>`
}

// data returns the attributes by which programs read the number. Words of the API and numbers need
// no quotes, which hundreds of cells would send.
func (c Cell) data() string {
	if c.Metric == "" && !c.Exact {
		return ""
	}
	value := ` data-value=` + cmp.Or(Exact(c.Value), `""`)
	if c.Metric == "" {
		return value
	}
	return ` data-metric=` + bare(c.Metric) + value
}

// bare returns the value of an attribute without quotes if it is a word.
func bare(text string) string {
	if text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz_") == "" {
		return text
	}
	return `"` + escape(text) + `"`
}

// Exact writes a number in full, as the API does. A gap is "".
func Exact(v float64) string {
	if isGap(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
