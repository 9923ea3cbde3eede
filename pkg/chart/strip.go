package chart

import (
	"strconv"
	"strings"
)

// Visit is a stay on one page of a document.
type Visit struct {
	Page    int
	Start   float64 // milliseconds since the session began
	Visible float64 // milliseconds that the page was looked at; a gap: not known
}

// Strip is one session of a reader: time from left to right, pages from top to bottom. A visit is
// as thick as the page was looked at while it was open.
type Strip struct {
	Title  string
	Pages  int // of the document; 0: as many as were visited
	Visits []Visit
}

const (
	stripLabels = 18
	thickest    = 8
	thinnest    = 2
	stripWidth  = 1000 // of the coordinates of its line
)

// SVG implements Chart.
func (s Strip) SVG() string {
	pages := s.Pages
	end := 1.0
	for _, v := range s.Visits {
		pages = max(pages, v.Page)
		end = max(end, v.Start+finite(v.Visible))
	}
	pages = max(pages, 1)
	row := min(max(120/float64(pages), 6), 14)
	height := float64(pages) * row
	d := draw(s.Title, paged, height+stripLabels+8)
	y := func(page int) float64 { return 4 + (float64(min(max(page, 1), pages))-0.5)*row }
	d.group(`stroke="`+hair+`"`, func() {
		for _, page := range []int{1, (pages + 1) / 2, pages} {
			d.rule(0, y(page), 1, y(page))
		}
	})
	d.stretched(stripWidth, d.height, func() {
		d.group(`stroke="`+grey+`" fill="none"`, func() { d.stroke(s.way(y, end), "") })
	})
	d.group(`fill="`+accent+`"`, func() {
		for i, v := range s.Visits {
			stop := s.stop(i)
			thick := thinnest + (thickest-thinnest)*attention(v, stop)
			d.rect(v.Start/end, y(v.Page)-thick/2, max((stop-v.Start)/end, 0.004), thick, `rx="1"`)
		}
	})
	d.group(`fill="`+soft+`"`, func() {
		for _, page := range []int{1, pages}[:min(pages, 2)] {
			d.text(0, y(page)+4, "start", "p. "+strconv.Itoa(page), `dx="-32"`)
		}
	})
	d.group(`fill="`+soft+`"`, func() {
		d.text(0, height+stripLabels+2, "start", "0", "")
		d.text(1, height+stripLabels+2, "end", Time(end), "")
	})
	return d.String()
}

// stop is when a visit ended: when the next began, or after its visible time.
func (s Strip) stop(i int) float64 {
	v := s.Visits[i]
	stop := v.Start + finite(v.Visible)
	if i+1 < len(s.Visits) && s.Visits[i+1].Start > v.Start {
		stop = max(stop, s.Visits[i+1].Start)
	}
	return stop
}

// attention is the share of a visit in which the page was looked at.
func attention(v Visit, stop float64) float64 {
	if stop <= v.Start {
		return 0
	}
	return min(finite(v.Visible)/(stop-v.Start), 1)
}

// way is the thin line from visit to visit.
func (s Strip) way(y func(int) float64, end float64) string {
	var b strings.Builder
	for i, v := range s.Visits {
		command := "L"
		if i == 0 {
			command = "M"
		}
		b.WriteString(command + number(v.Start/end*stripWidth) + " " + number(y(v.Page)) + "H" +
			number(s.stop(i)/end*stripWidth))
	}
	return b.String()
}

// Table implements Chart.
func (s Strip) Table() Table {
	t := Table{Title: s.Title, Head: []string{"After", "Page", "Looked at"}}
	for _, v := range s.Visits {
		t.Rows = append(t.Rows, []Cell{{Text: Time(v.Start)}, {Text: strconv.Itoa(v.Page)}, {Text: Time(v.Visible)}})
	}
	return t
}
