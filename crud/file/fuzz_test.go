package file

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Whatever Range is asked for, the answer is the whole file or one part of it.
func FuzzRange(f *testing.F) {
	for _, seed := range []string{"", "bytes=0-4", "bytes=5-", "bytes=-3", "bytes=-0", "bytes=99-", "bytes=4-2",
		"bytes=0-1,3-4", "lines=1-2", "bytes=00000-9999999999999999999"} {
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
