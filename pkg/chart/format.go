package chart

import (
	"math"
	"strconv"
	"strings"
)

// None stands where there is no value.
const None = "–"

// Format writes a value with its unit. A gap is None.
type Format func(float64) string

// Count writes a number without decimals: 12,345.
func Count(v float64) string {
	if isGap(v) {
		return None
	}
	digits := strconv.FormatFloat(math.Abs(math.Round(v)), 'f', 0, 64)
	var b strings.Builder
	if math.Round(v) < 0 {
		b.WriteString("−")
	}
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// Share writes a rate as a percentage: 0.466 is 47 %, 0.004 is 0.4 %.
func Share(v float64) string {
	if isGap(v) {
		return None
	}
	p := v * 100
	if decimal := math.Round(p*10) / 10; math.Abs(p) < 10 && decimal != math.Round(decimal) {
		return strconv.FormatFloat(decimal, 'f', 1, 64) + " %"
	}
	return Count(p) + " %"
}

// Time writes milliseconds in the units that people read: 840 ms, 4.2 s, 1 min 5 s, 2 h 3 min,
// 18 h.
func Time(ms float64) string {
	if isGap(ms) {
		return None
	}
	s := ms / 1000
	switch {
	case ms == 0:
		return "0 s"
	case s < 1:
		return Count(ms) + " ms"
	case s < 9.95:
		return strconv.FormatFloat(math.Round(s*10)/10, 'f', -1, 64) + " s"
	case math.Round(s) < 60:
		return Count(s) + " s"
	case math.Round(s) < 3600:
		return pair(math.Round(s), 60, " min", " s")
	case math.Round(s/60) < 10*60:
		return pair(math.Round(s/60), 60, " h", " min")
	case math.Round(s/3600) < 48:
		return Count(s/3600) + " h"
	default:
		return pair(math.Round(s/3600), 24, " d", " h")
	}
}

func pair(n, per float64, large, small string) string {
	text := Count(math.Floor(n/per)) + large
	if rest := math.Mod(n, per); rest > 0 {
		text += " " + Count(rest) + small
	}
	return text
}

// written is the format, or Count.
func (f Format) written(v float64) string {
	if f == nil {
		return Count(v)
	}
	return f(v)
}

// isGap reports whether a value cannot be drawn.
func isGap(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }
