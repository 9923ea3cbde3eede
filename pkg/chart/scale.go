package chart

import "math"

// scale maps values from 0 to max to pixels from bottom up to top.
type scale struct{ max, top, bottom float64 }

// newScale ends at the first round number that holds every value. whole keeps its lines at whole
// numbers.
func newScale(values []float64, whole bool, top, bottom float64) scale {
	highest := 0.0
	for _, v := range values {
		if !isGap(v) {
			highest = max(highest, v)
		}
	}
	return scale{ceiling(highest, whole), top, bottom}
}

func (s scale) y(v float64) float64 {
	if isGap(v) {
		return v
	}
	return s.bottom - min(max(v, 0), s.max)/s.max*(s.bottom-s.top)
}

func (s scale) all(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = s.y(v)
	}
	return out
}

// lines are the values at which a line crosses the picture, without 0.
func (s scale) lines() []float64 { return []float64{s.max / 2, s.max} }

// ceiling returns the lowest round number that is not below a value and can be halved.
func ceiling(v float64, whole bool) float64 {
	if v <= 0 || isGap(v) {
		v = 1
	}
	if whole {
		v = max(v, 2)
	}
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, step := range []float64{1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10} {
		c := step * unit
		if c >= v*(1-1e-9) && (!whole || math.Mod(math.Round(c*10)/10, 2) == 0) {
			return c
		}
	}
	return 10 * unit
}

// places are the indexes of at most n labels along count values, at equal distances from the first.
func places(count, n int) []int {
	step := max((count+n-1)/n, 1)
	var out []int
	for i := 0; i < count; i += step {
		out = append(out, i)
	}
	return out
}

// placesBack are the same from the last back, for times: the last is the one that people look for.
func placesBack(count, n int) []int {
	out := places(count, n)
	for i := range out {
		out[i] = count - 1 - out[i]
	}
	return out
}

// anchor returns the side at which a label of a place from 0 to 1 is fixed, so that it stays in the
// picture.
func anchor(place float64) string {
	switch {
	case place < 0.08:
		return "start"
	case place > 0.92:
		return "end"
	default:
		return "middle"
	}
}
