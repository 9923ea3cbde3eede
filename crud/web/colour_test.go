package web

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Every ink reads on every ground, in both schemes.
func TestContrastOfTokens(t *testing.T) {
	t.Parallel()
	grounds := []string{"ground", "raised"}
	for ink, least := range map[string]float64{"ink": 7, "soft": 4.5, "accent": 4.5, "good": 4.5,
		"warn": 4.5, "bad": 4.5, "edge": 3} {
		for _, ground := range grounds {
			i, g := Token(ink), Token(ground)
			require.GreaterOrEqual(t, contrast(parseColour(i.Light), parseColour(g.Light)), least,
				"%s on %s, light", ink, ground)
			require.GreaterOrEqual(t, contrast(parseColour(i.Dark), parseColour(g.Dark)), least, "%s on %s, dark", ink, ground)
		}
	}
	a, on := Token("accent"), Token("on-accent")
	require.GreaterOrEqual(t, contrast(parseColour(a.Light), parseColour(on.Light)), minContrast)
	require.GreaterOrEqual(t, contrast(parseColour(a.Dark), parseColour(on.Dark)), minContrast)
}

func TestAccentReadsWhateverItIs(t *testing.T) {
	t.Parallel()
	on := Token("on-accent")
	for _, given := range []string{"#ffffff", "#000000", "#ffff00", "#ff0000", "#00FF00", "#0000ff", "#777777",
		"#123456", "#fefefe", "#e91e63"} {
		a := Accent(given)
		for _, ground := range []string{"ground", "raised"} {
			require.GreaterOrEqual(t, contrast(parseColour(a.Light), parseColour(Token(ground).Light)), minContrast, given)
			require.GreaterOrEqual(t, contrast(parseColour(a.Dark), parseColour(Token(ground).Dark)), minContrast, given)
		}
		require.GreaterOrEqual(t, contrast(parseColour(a.Light), parseColour(on.Light)), minContrast, given)
		require.GreaterOrEqual(t, contrast(parseColour(a.Dark), parseColour(on.Dark)), minContrast, given)
	}
	require.Equal(t, Token("accent"), Accent("red"))
	require.Equal(t, "#123456", Accent("#123456").Light, "what reads well stays")
	for _, bad := range []string{"", "#fff", "#12345g", "#1234567", "red", "#123456\n"} {
		require.False(t, IsColour(bad), bad)
	}
}
