package web

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever the brand, an error is of another hue, and can be read.
func TestErrorsAreSeenBesideEveryBrand(t *testing.T) {
	t.Parallel()
	ground, raised := Token("ground"), Token("raised")
	changed := 0
	for degrees := range 360 {
		c := ofHue(float64(degrees))
		bad := Token("bad")
		if other, _, found := badBeside(c.String()); found {
			bad = other
			changed++
		}
		for _, b := range []string{bad.Light, bad.Dark} {
			hue, _ := parseColour(b).hue()
			require.GreaterOrEqual(t, hues(float64(degrees), hue), minHues-3.0, "%d° and %s", degrees, b)
		}
		for _, g := range []Pair{ground, raised} {
			require.GreaterOrEqual(t, contrast(parseColour(bad.Light), parseColour(g.Light)), minContrast)
			require.GreaterOrEqual(t, contrast(parseColour(bad.Dark), parseColour(g.Dark)), minContrast)
		}
	}
	require.InDelta(t, 2*minHues, changed, 4)
	for _, grey := range []string{"#000000", "#ffffff", "#777777", "#101418"} {
		_, _, found := badBeside(grey)
		require.False(t, found, grey)
	}
	require.Contains(t, accentCSS("#b3261e"), "--bad:#9a1f9a")
	require.NotContains(t, accentCSS("#2f5bd0"), "--bad")
}

func ofHue(degrees float64) colour {
	part := func(offset float64) float64 {
		k := degrees/60 + offset
		for k >= 6 {
			k -= 6
		}
		return 1 - max(0, min(k, 4-k, 1))
	}
	return colour{part(5), part(3), part(1)}
}

func ExampleAccent() {
	fmt.Println(Accent("#ffcc00"))
	// Output: {#8a6e00 #ffcc00}
}
