package web

import "math"

// minHues is how far the hue of errors is from that of a brand, in degrees: else an error looks
// like a field that has the focus.
const minHues = 40

// Colours of errors beside brands that are red: magenta, and ochre beside reds that lean to
// magenta.
var (
	magenta, magentaSoft = Pair{"#9a1f9a", "#f0a3f0"}, Pair{"#faf0fa", "#2a182a"}
	ochre, ochreSoft     = Pair{"#944700", "#ffb370"}, Pair{"#fcf3ea", "#2a2014"}
)

// badBeside returns the colours of errors beside a brand whose hue is near that of ours. other is
// false for all other brands.
func badBeside(brand string) (bad, soft Pair, other bool) {
	hue, coloured := parseColour(brand).hue()
	ours, _ := parseColour(Token("bad").Light).hue()
	if !coloured || hues(hue, ours) >= minHues {
		return Pair{}, Pair{}, false
	}
	if m, _ := parseColour(magenta.Light).hue(); hues(hue, m) >= minHues {
		return magenta, magentaSoft, true
	}
	return ochre, ochreSoft, true
}

// hue returns the hue of a colour in degrees, and whether it has one: greys have none.
func (c colour) hue() (degrees float64, coloured bool) {
	high, low := max(c[0], c[1], c[2]), min(c[0], c[1], c[2])
	span := high - low
	if span < 0.12 {
		return 0, false
	}
	switch high {
	case c[0]:
		degrees = (c[1] - c[2]) / span
	case c[1]:
		degrees = (c[2]-c[0])/span + 2
	default:
		degrees = (c[0]-c[1])/span + 4
	}
	return math.Mod(60*degrees+360, 360), true
}

// hues returns the distance of two hues, in degrees.
func hues(a, b float64) float64 {
	d := math.Mod(math.Abs(a-b), 360)
	return min(d, 360-d)
}
