package web

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Pair is a value in the light and in the dark scheme.
type Pair struct{ Light, Dark string }

// Token returns the value of a custom property of tokens.css, named without its dashes: "ink" is
// the colour of text. One that is not there is empty. A property that the dark scheme does not set
// is the same in both.
func Token(name string) Pair {
	text, err := webFiles.ReadFile("web/tokens.css")
	if err != nil {
		return Pair{} // it is embedded
	}
	light, dark, _ := strings.Cut(string(text), "@media")
	p := Pair{property(light, name), property(dark, name)}
	if p.Dark == "" {
		p.Dark = p.Light
	}
	return p
}

func property(css, name string) string {
	_, rest, found := strings.Cut(css, "--"+name+":")
	if !found {
		return ""
	}
	value, _, _ := strings.Cut(rest, ";")
	return strings.TrimSpace(value)
}

var hexColour = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)

// IsColour reports whether a text is a colour as accounts give it: #rrggbb.
func IsColour(text string) bool { return hexColour.MatchString(text) }

// Accent returns a colour as it reads well as text on the grounds of each scheme, and they on it:
// at 4.5:1 or more. Its hue stays. What is no colour gives our own accent.
func Accent(colour string) Pair {
	if !IsColour(colour) {
		return Token("accent")
	}
	raised := Token("raised") // the harder one of the two grounds, in both schemes
	return Pair{readable(parseColour(colour), parseColour(raised.Light), -1).String(),
		readable(parseColour(colour), parseColour(raised.Dark), 1).String()}
}

// accentCSS returns the rules that replace our accent.
func accentCSS(colour string) string {
	if !IsColour(colour) {
		return ""
	}
	a := Accent(colour)
	soft := Pair{parseColour(a.Light).mix(parseColour(Token("ground").Light), 0.9).String(),
		parseColour(a.Dark).mix(parseColour(Token("ground").Dark), 0.82).String()}
	css := fmt.Sprintf(":root{--accent:%s;--accent-soft:%s}@media (prefers-color-scheme:dark){:root{--accent:%s;--accent-soft:%s}}",
		a.Light, soft.Light, a.Dark, soft.Dark)
	if bad, badSoft, other := badBeside(colour); other {
		css += fmt.Sprintf(":root{--bad:%s;--bad-soft:%s}@media (prefers-color-scheme:dark){:root{--bad:%s;--bad-soft:%s}}",
			bad.Light, badSoft.Light, bad.Dark, badSoft.Dark)
	}
	return css
}

// minContrast is the contrast of text that WCAG 2.2 requires (AA).
const minContrast = 4.5

type colour [3]float64 // red, green and blue, from 0 to 1

func parseColour(text string) (c colour) {
	for i := range c {
		n, err := strconv.ParseUint(text[1+2*i:3+2*i], 16, 8)
		if err != nil {
			return colour{} // not a colour: checked before
		}
		c[i] = float64(n) / 255
	}
	return c
}

// String returns #rrggbb.
func (c colour) String() string {
	return fmt.Sprintf("#%02x%02x%02x", int(math.Round(c[0]*255)), int(math.Round(c[1]*255)), int(math.Round(c[2]*255)))
}

// luminance is the relative luminance of WCAG.
func (c colour) luminance() float64 {
	linear := func(v float64) float64 {
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c[0]) + 0.7152*linear(c[1]) + 0.0722*linear(c[2])
}

func contrast(a, b colour) float64 {
	x, y := a.luminance(), b.luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func (c colour) mix(other colour, share float64) colour {
	for i := range c {
		c[i] += (other[i] - c[i]) * share
	}
	return c
}

// readable moves a colour towards black (-1) or white (1) until it reads on the ground.
func readable(c, ground colour, direction int) colour {
	end := colour{}
	if direction > 0 {
		end = colour{1, 1, 1}
	}
	for step := range 101 {
		// Rounded, as it will be written.
		if moved := parseColour(c.mix(end, float64(step)/100).String()); contrast(moved, ground) >= minContrast {
			return moved
		}
	}
	return end
}
