package magnet

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// A name that passes is one element of a path that can be shown and sent in a header.
func FuzzCleanName(f *testing.F) {
	for _, seed := range []string{"", "a.pdf", "../../etc/passwd", `C:\x\y.pdf`, ".", "/", "\x00", "\xff", strings.Repeat("é", 200)} {
		f.Add(seed, "Title / of it")
		f.Add("", seed)
	}
	f.Fuzz(func(t *testing.T, name, title string) {
		if !utf8.ValidString(title) {
			return // titles are
		}
		got, err := cleanName(name, title)
		if err != nil {
			return
		}
		require.NotEmpty(t, got)
		require.LessOrEqual(t, len(got), maxNameBytes)
		require.True(t, utf8.ValidString(got))
		require.Equal(t, ".pdf", strings.ToLower(got[len(got)-4:]))
		require.False(t, strings.ContainsAny(got, `/\`) || strings.ContainsFunc(got, unicode.IsControl), "%q", got)
	})
}
