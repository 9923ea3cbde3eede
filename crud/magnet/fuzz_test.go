package magnet

import (
	"mime"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// A name that passes is one element of a path that can be shown and sent in a header.
func FuzzCleanName(f *testing.F) {
	for _, seed := range []string{"", "a.pdf", "../../etc/passwd", `C:\x\y.pdf`, ".", "/", "\x00",
		"\xff", strings.Repeat("é", 200)} {
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

// A program that reads no escapes finds no other name in the header than the one that ends with
// .pdf.
func TestDisposition(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"guide.pdf":                            `attachment; filename=guide.pdf`,
		"The guide":                            `attachment; filename="The guide.pdf"`,
		`a"; filename*=UTF-8''evil.exe; x.pdf`: `attachment; filename="a-- filename*=UTF-8''evil.exe- x.pdf"`,
		`a\"b.pdf`:                             `attachment; filename=a--b.pdf`,
		"größe.pdf":                            `attachment; filename*=utf-8''gr%C3%B6%C3%9Fe.pdf`,
	} {
		got := Disposition("attachment", name)
		require.Equal(t, want, got)
		require.NotContains(t, got, `\`)
		_, parameters, err := mime.ParseMediaType(got)
		require.NoError(t, err)
		require.Equal(t, ".pdf", parameters["filename"][len(parameters["filename"])-4:])
	}
}
