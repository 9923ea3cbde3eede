package pdf

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/test"
)

// Whatever letters an address has, the mark in the page is that of this person and no one else.
func TestTheMarkNamesOnePerson(t *testing.T) {
	t.Parallel()
	r, err := NewReader()
	require.NoError(t, err)
	t.Cleanup(r.Close)
	dir, err := r.prepare(t.Context())
	require.NoError(t, err)
	const at = " · 2026-11-30 20:15 UTC"
	long := strings.Repeat("\u0436", 32) + "@" + strings.Repeat(strings.Repeat("\u0436", 30)+".", 3) + "test"
	require.LessOrEqual(t, len(long), 254)
	for address, shown := range map[string]string{
		"m\u00fcller@stra\u00dfe.example": "m\u00fcller@stra\u00dfe.example",
		"muller@strasse.example":          "muller@strasse.example",
		"\u0142uk@example.com":            "%C5%82uk@example.com",
		"%C5%82uk@example.com":            "%25C5%2582uk@example.com",
		"an\u00adn@example.com":           "an%C2%ADn@example.com",
		"\u0430nn@example.com":            "%D0%B0nn@example.com", // a Cyrillic a
		long:                              strings.ReplaceAll(long, "\u0436", "%D0%B6"),
		strings.Repeat("%", 254):          strings.Repeat("%25", 254),
		strings.Repeat("(", 254):          strings.Repeat("(", 254),
	} {
		texts, _ := textOf(t, dir, stamped(t, r, test.StripPDF(1, 0), address+at))
		joined := strings.NewReplacer("\r", "", "\n", "", " ", "") // where a line ends, a blank is read
		require.Contains(t, joined.Replace(texts[0]), joined.Replace(shown+at), address)
	}
}
