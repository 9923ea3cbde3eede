package chart

import (
	"slices"
	"strconv"
)

// PageRow is the numbers of one page of a document.
type PageRow struct {
	Page             int
	Reached, Stopped float64 // people who came at least, and at most, to this page
	Median           float64 // milliseconds on it; a gap: not known
}

// Pages is the page curve: how far readers come in a document, where they stop, and how long they
// stay.
type Pages struct {
	Title  string
	Rows   []PageRow
	Before []PageRow                           // of the version that it is compared with
	Was    string                              // name of that version
	URL    func(page int, stopped bool) string // of those who reached a page, or stopped there; nil: none
	Own    Words                               // of the table and of labels; nil: English
}

const (
	curveTop    = 16
	curveBottom = 160
	curveHeat   = 170 // top of the row of times
	curveHeight = 214
)

// SVG implements Chart. Reached is a share of the readers, so that versions are comparable.
func (p Pages) SVG() string {
	d := draw(p.Title, ends, curveHeight)
	s := scale{1, curveTop, curveBottom}
	d.grid(s)
	n := max(len(p.Rows), 1)
	width := 1 / float64(n)
	middle := middles(len(p.Rows))
	all := base(p.Rows)
	d.group(`fill="`+grey+`" fill-opacity=".55"`, func() {
		for i, r := range p.Rows {
			if y := s.y(finite(r.Stopped) / all); r.Stopped > 0 {
				d.rect(float64(i)*width+width*0.2, y, width*0.6, curveBottom-y, "")
			}
		}
	})
	d.stretched(middle.width, d.height, func() {
		if len(p.Before) > 0 {
			d.group(`fill="none" stroke="`+grey+`" stroke-width="2" stroke-linecap="round"`, func() {
				d.stroke(path(middle, s.all(reached(p.Before[:min(n, len(p.Before))]))), `stroke-dasharray="5 5"`)
			})
		}
		y := s.all(reached(p.Rows))
		if data := area(middle, y, curveBottom); data != "" {
			d.write(`<path d="`, data, `" fill="`, accent, `" fill-opacity=".1"/>`)
		}
		d.group(`fill="none" stroke="`+accent+`" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"`,
			func() { d.stroke(path(middle, y), "") })
	})
	d.values(s, Share)
	p.heat(d, width)
	p.names(d, s, middle)
	return d.String()
}

// base is the number of readers: those who reached the first page, or any.
func base(rows []PageRow) float64 {
	highest := 1.0
	for _, r := range rows {
		highest = max(highest, finite(r.Reached))
	}
	return highest
}

func reached(rows []PageRow) []float64 {
	all := base(rows)
	out := make([]float64, len(rows))
	for i, r := range rows {
		out[i] = finite(r.Reached) / all
	}
	return out
}

// heat draws how long readers stay: a field for each page, darker for longer.
func (p Pages) heat(d *drawing, width float64) {
	longest := 0.0
	for _, r := range p.Rows {
		longest = max(longest, finite(r.Median))
	}
	d.group(`fill="`+accent+`"`, func() {
		for i, r := range p.Rows {
			if !isGap(r.Median) {
				d.rect(float64(i)*width+width*0.04, curveHeat, width*0.92, 22, `rx="2" fill-opacity="`+shade(r.Median, longest)+`"`)
			}
		}
	})
	d.group(`fill="`+ink+`"`, func() {
		if len(p.Rows) > 12 {
			return // too narrow for text on a phone: the table has it
		}
		for i, r := range p.Rows {
			if !isGap(r.Median) {
				d.text((float64(i)+0.5)*width, curveHeat+15, "middle", strconv.Itoa(int(r.Median/1000+0.5)), `font-size="11"`)
			}
		}
	})
	d.group(`fill="`+soft+`"`, func() {
		for _, i := range places(len(p.Rows), 12) {
			d.text((float64(i)+0.5)*width, curveHeight-6, "middle", strconv.Itoa(p.Rows[i].Page), "")
		}
	})
}

func (p Pages) names(d *drawing, s scale, middle axis) {
	if len(p.Rows) == 0 {
		return
	}
	shares := reached(p.Rows)
	last := len(shares) - 1
	stop := slices.MaxFunc(p.Rows[:max(last, 1)],
		func(a, b PageRow) int { return int(finite(a.Stopped) - finite(b.Stopped)) })
	if stop.Stopped > 0 && last > 0 {
		i := slices.IndexFunc(p.Rows, func(r PageRow) bool { return r.Page == stop.Page })
		at := middle.share(i)
		side := anchor(0.5 + (at-0.5)*1.2) // the words are longer than those of an axis
		d.group(`font-weight="600" `+over, func() {
			d.text(at, s.y(stop.Stopped/base(p.Rows))-5, side, p.Own.of("Stopped")+" "+Count(stop.Stopped), `fill="`+soft+`"`)
		})
	}
	labels := []label{{p.Own.of("Reached") + " " + Share(shares[last]), accent, s.y(shares[last]) + 4}}
	if n := len(p.Before); n > 0 {
		was := reached(p.Before)[n-1]
		labels = append(labels, label{p.Was + " " + Share(was), soft, s.y(was) + 4})
	}
	d.ends(labels)
}

// Table implements Chart.
func (p Pages) Table() Table {
	t := Table{Title: p.Title, Head: []string{p.Own.of("Page"), p.Own.of("Reached"), p.Own.of("Of all"),
		p.Own.of("Stopped"), p.Own.of("Median time")}}
	all := base(p.Rows)
	for _, r := range p.Rows {
		row := []Cell{
			{Text: strconv.Itoa(r.Page)}, figure("people_reached", r.Reached, Count), {Text: Share(r.Reached / all)},
			figure("people_stopped", r.Stopped, Count), figure("median_page_ms", r.Median, Time),
		}
		if p.URL != nil {
			row[1].URL, row[3].URL = p.URL(r.Page, false), p.URL(r.Page, true)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
