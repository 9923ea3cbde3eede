package magnet

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// Whatever Range is asked for, the answer is the whole file or one part of it.
func FuzzRange(f *testing.F) {
	for _, seed := range []string{"", "bytes=0-4", "bytes=5-", "bytes=-3", "bytes=-0", "bytes=99-", "bytes=4-2", "bytes=0-1,3-4", "lines=1-2", "bytes=00000-9999999999999999999"} {
		f.Add(seed)
	}
	const text = "0123456789"
	f.Fuzz(func(t *testing.T, header string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		r.Header["Range"] = []string{header}
		w := httptest.NewRecorder()
		KeepOneRange(r, int64(len(text)))
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(text))
		switch w.Code {
		case http.StatusOK:
			require.Equal(t, text, w.Body.String())
		case http.StatusPartialContent:
			require.Contains(t, text, w.Body.String())
			require.NotEmpty(t, w.Body.String())
			require.True(t, strings.HasPrefix(w.Header().Get("Content-Range"), "bytes "))
		default:
			t.Fatalf("%q: %d", header, w.Code)
		}
	})
}

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
