package chart

import (
	"math"
	"strconv"
	"strings"
)

// axis has the horizontal positions of values. Lines are drawn in its units, so that most steps of
// a path are the same and compress well.
type axis struct {
	width float64
	first float64 // position of the first value
	step  float64 // from one value to the next
}

// edges places the first value at the left edge and the last one at the right. One value alone is
// in the middle.
func edges(n int) axis {
	if n < 2 {
		return axis{2, 1, 1}
	}
	return axis{float64(n - 1), 0, 1}
}

// middles places each value in the middle of a column.
func middles(n int) axis { return axis{2 * float64(max(n, 1)), 1, 2} }

func (a axis) at(i int) float64 { return a.first + float64(i)*a.step }

// share is a position as a share of the width.
func (a axis) share(i int) float64 { return a.at(i) / a.width }

// pen writes the data of a path in whole units, with steps relative to the last point: a screen has
// a thousand of them.
type pen struct {
	b    strings.Builder
	x, y int
	line bool // the last command is a line
}

func (p *pen) String() string { return p.b.String() }

func units(x, y float64) (right, down int) { return int(math.Round(x)), int(math.Round(y)) }

func (p *pen) moveTo(x, y float64) {
	p.x, p.y = units(x, y)
	p.line = false
	p.b.WriteString("M" + strconv.Itoa(p.x) + " " + strconv.Itoa(p.y))
}

func (p *pen) lineTo(x, y float64) {
	right, down := units(x, y)
	if !p.line {
		p.b.WriteByte('l')
	}
	p.step(right-p.x, p.line)
	p.step(down-p.y, true)
	p.x, p.y, p.line = right, down, true
}

// step writes a number. A minus parts it from the number before.
func (p *pen) step(n int, follows bool) {
	if follows && n >= 0 {
		p.b.WriteByte(' ')
	}
	p.b.WriteString(strconv.Itoa(n))
}

// path returns the data of lines through points, one for each run without a gap.
func path(x axis, y []float64) string {
	var p pen
	for i, v := range y {
		switch {
		case isGap(v):
		case i == 0 || isGap(y[i-1]):
			p.moveTo(x.at(i), v)
		default:
			p.lineTo(x.at(i), v)
		}
	}
	return p.String()
}

// dots returns the data of points between gaps, which a line does not show.
func dots(x axis, y []float64) string {
	var p pen
	for i, v := range y {
		if !isGap(v) && (i == 0 || isGap(y[i-1])) && (i+1 == len(y) || isGap(y[i+1])) {
			p.moveTo(x.at(i), v)
			p.b.WriteString("h0")
		}
	}
	return p.String()
}

// area returns the data of what is between the same lines and a height.
func area(x axis, y []float64, floor float64) string {
	var p pen
	for i, v := range y {
		if isGap(v) {
			continue
		}
		if i == 0 || isGap(y[i-1]) {
			p.moveTo(x.at(i), v)
		} else {
			p.lineTo(x.at(i), v)
		}
		if i+1 == len(y) || isGap(y[i+1]) {
			start := i
			for start > 0 && !isGap(y[start-1]) {
				start--
			}
			left, bottom := units(x.at(start), floor)
			p.b.WriteString("V" + strconv.Itoa(bottom) + "H" + strconv.Itoa(left) + "z")
		}
	}
	return p.String()
}
