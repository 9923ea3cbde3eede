package chart

import (
	"html"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Colours: custom properties of pages, and what they are where there are none.
const (
	accent = "var(--accent,#2f5bd0)"
	grey   = "var(--edge,#7f8893)"
	ink    = "var(--ink,#16191d)"
	soft   = "var(--soft,#565e69)"
	hair   = "var(--line,#dfe3e8)"
	ground = "var(--ground,#fff)"
	raised = "var(--raised,#f6f7f9)"
)

// drawing builds an svg element. Horizontal positions are percentages, vertical ones pixels.
type drawing struct {
	b      strings.Builder
	height float64
}

// The classes of pictures with text beside them. CSS has the space for it.
const (
	plain = ""
	ends  = ` class="ends"` // names of lines at the right
	// and times from left to right, the first and the last at the edges: scripts mark one in every
	// picture
	timed = ` class="ends timed"`
	paged = ` class="paged"` // page numbers at the left
	stack = ` class="stack"` // a row of the same height for each row of the table: scripts read them out
	cells = ` class="heat"`  // a field for each number of the table: so are these
)

func draw(title, class string, height float64) *drawing {
	d := &drawing{height: height}
	d.write(`<svg xmlns="http://www.w3.org/2000/svg" role="img"`, class, ` width="100%" height="`, number(height),
		`"><title>`, escape(title), `</title>`)
	return d
}

func (d *drawing) String() string { return d.b.String() + "</svg>" }

func (d *drawing) write(parts ...string) {
	for _, p := range parts {
		d.b.WriteString(p)
	}
}

// group writes what fn draws with the same attributes.
func (d *drawing) group(attributes string, fn func()) {
	before := d.b.Len()
	d.write("<g ", attributes, ">")
	start := d.b.Len()
	fn()
	if d.b.Len() == start { // nothing was drawn
		text := d.b.String()[:before]
		d.b.Reset()
		d.b.WriteString(text)
		return
	}
	d.write("</g>")
}

// stretched writes what fn draws in coordinates from 0 to width and from 0 to height. They are
// stretched to the picture.
func (d *drawing) stretched(width, height float64, fn func()) {
	d.write(`<svg width="100%" height="`, number(d.height), `" viewBox="0 0 `, number(width), ` `, number(height),
		`" preserveAspectRatio="none" overflow="visible">`)
	fn()
	d.write("</svg>")
}

func (d *drawing) rect(x, y, width, height float64, attributes string) {
	d.write(`<rect x="`, percent(x), `" y="`, number(y), `" width="`, percent(width), `" height="`, number(height), `"`,
		attribute(attributes), `/>`)
}

func (d *drawing) rule(x1, y1, x2, y2 float64) {
	d.write(`<line x1="`, percent(x1), `" y1="`, number(y1), `" x2="`, percent(x2), `" y2="`, number(y2), `"/>`)
}

// text writes at a position; anchor is start, middle or end.
func (d *drawing) text(x, y float64, anchor, text, attributes string) {
	d.write(`<text x="`, percent(x), `" y="`, number(y), `"`)
	if anchor != "start" {
		d.write(` text-anchor="`, anchor, `"`)
	}
	d.write(attribute(attributes), ">", escape(text), "</text>")
}

// over is the attributes of text that may stand on a line: the ground is around it.
const over = `paint-order="stroke" stroke="` + ground + `" stroke-width="4" stroke-linejoin="round"`

func attribute(text string) string {
	if text == "" {
		return ""
	}
	return " " + text
}

// number writes one decimal at most.
func number(v float64) string {
	if isGap(v) {
		v = 0
	}
	return strconv.FormatFloat(tenth(v), 'f', -1, 64)
}

func tenth(v float64) float64 { return math.Round(v*10)/10 + 0 }

// percent writes a share with two decimals of a percent at most.
func percent(share float64) string {
	if isGap(share) {
		share = 0
	}
	v := math.Round(share*10_000) / 100
	if v == 0 {
		return "0"
	}
	return strconv.FormatFloat(v, 'f', -1, 64) + "%"
}

// escape returns text as HTML and XML both take it, in attributes and in elements.
func escape(text string) string {
	text = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || r == 0xfffe || r == 0xffff || r < ' ' && r != '\t' && r != '\n' {
			return '\ufffd'
		}
		return r
	}, strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\r", "\n"))
	return html.EscapeString(text)
}
