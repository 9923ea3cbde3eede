package frame

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := io.WriteString(w, text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

// Browsers keep a script under the hash of its build for good, and no script under another.
func TestScriptsAreKept(t *testing.T) {
	t.Parallel()
	s, err := readScripts(fstest.MapFS{"manifest.json": {Data: []byte(`{"hash":"abc"}`)},
		"island.js.gz": {Data: zipped(t, "run()")}})
	require.NoError(t, err)
	require.Equal(t, "/dashboard/scripts/abc/island.js", s.Main())
	for path, want := range map[string]struct {
		status int
		cache  string
	}{
		s.Main():                               {http.StatusOK, "public, max-age=31536000, immutable"},
		"/dashboard/scripts/old/island.js":     {http.StatusOK, "no-store"},
		"/dashboard/scripts/abc/none.js":       {http.StatusNotFound, "no-store"},
		"/dashboard/scripts/abc/manifest.json": {http.StatusNotFound, "no-store"},
		"/dashboard/scripts/":                  {http.StatusNotFound, "no-store"},
	} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		require.Equal(t, want.status, w.Code, path)
		require.Equal(t, want.cache, w.Header().Get("Cache-Control"), path)
		if want.status == http.StatusOK {
			require.Equal(t, "text/javascript; charset=utf-8", w.Header().Get("Content-Type"))
			require.Equal(t, "run()", w.Body.String())
		}
	}
}

// A program that was built without the scripts has screens that do without.
func TestWithoutABuildOfScripts(t *testing.T) {
	t.Parallel()
	s, err := readScripts(fstest.MapFS{".gitkeep": {}})
	require.NoError(t, err)
	require.Empty(t, s.Main())
}
