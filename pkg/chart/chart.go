// Package chart draws numbers as SVG, for pages and for mails. It needs no script.
//
// A chart is a value with its title and numbers: Line, Bars, Funnel, Pages, Strip, Heat or Spark.
// SVG returns the picture, Table the numbers behind it, and Figure both as HTML. A picture takes
// the width of its container. Its text keeps its size, because horizontal positions are percentages
// and vertical ones are pixels.
//
// Colours are custom properties of the page with a fallback, so a picture follows the dark scheme
// of a page and also works alone. Series differ in form as well as in colour: the comparison is
// dashed and grey. Labels stand at the lines; there are no legends.
//
// Text may come from anyone: it is escaped. Values may be NaN, which is a gap.
package chart

import (
	_ "embed"
	"html/template"
	"math"
)

// Chart is a picture and the numbers behind it. The types of this package implement it.
type Chart interface {
	// SVG returns an element svg with the role img and a title.
	SVG() string
	// Table returns the numbers of the picture.
	Table() Table
}

// CSS is the style of figures. A page that shows one includes it.
//
//go:embed chart.css
var CSS string

// Words are the words of charts in another language, by the English ones; nil: English.
type Words map[string]string

func (w Words) of(english string) string {
	if word := w[english]; word != "" {
		return word
	}
	return english
}

// Figure returns the picture with its table, which is folded.
func Figure(c Chart) template.HTML { return FigureIn(c, nil) }

// FigureIn is Figure with words in another language around the table. The chart has its own.
func FigureIn(c Chart, w Words) template.HTML {
	t := c.Table()
	return template.HTML(`<figure class="chart">` + c.SVG() + `<details><summary>` + escape(w.of("Table")) + `</summary><div class="scroll" role="region" tabindex="0" aria-label="` + //nolint:gosec // text in it is escaped
		escape(w.of("Table")+": "+t.Title) + `">` + t.HTML() + `</div></details></figure>`)
}

// Picture returns the picture alone, for a place whose numbers stand beside it.
func Picture(c Chart) template.HTML { return template.HTML(c.SVG()) } //nolint:gosec // text in it is escaped

// Gap is a value that does not exist, such as a rate of nothing.
func Gap() float64 { return math.NaN() }
