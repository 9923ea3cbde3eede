package asset_test

import (
	"bytes"
	"compress/gzip"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/asset"
)

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

// A client gets the smallest form that it takes, whichever forms the build wrote.
func TestEncode(t *testing.T) {
	t.Parallel()
	files, err := asset.Load(fstest.MapFS{
		"page.js.br":      {Data: []byte("brotli")},
		"page.js.gz":      {Data: zipped(t, "plain")},
		"fonts/a.ttf":     {Data: []byte("font")},
		"fonts/maps.blob": {Data: []byte("map")},
		".gitkeep":        {},
	})
	require.NoError(t, err)
	require.Len(t, files, 3)
	require.Equal(t, "font/ttf", files["fonts/a.ttf"].Type)
	require.Equal(t, "application/octet-stream", files["fonts/maps.blob"].Type)

	page := files["page.js"]
	require.Equal(t, "text/javascript; charset=utf-8", page.Type)
	require.Regexp(t, `^W/"[A-Za-z0-9_-]{16}"$`, page.ETag)
	for accepted, want := range map[string]string{
		"gzip, deflate, br, zstd": "br", "br;q=0, gzip": "gzip", "x-gzip": "gzip", "": "", "identity": "",
		"gzip;q=0, *": "br", "*;q=0": "",
	} {
		body, coding := page.Encode(accepted)
		require.Equal(t, want, coding, accepted)
		require.Equal(t, map[string]string{"br": "brotli", "gzip": string(zipped(t, "plain")), "": "plain"}[want],
			string(body), accepted)
	}
	body, coding := files["fonts/a.ttf"].Encode("br")
	require.Equal(t, "font", string(body))
	require.Empty(t, coding)
}

// A damaged build is noticed at the start, not by a visitor.
func TestDamagedBuild(t *testing.T) {
	t.Parallel()
	_, err := asset.Load(fstest.MapFS{"page.js.gz": {Data: []byte("no gzip")}})
	require.ErrorContains(t, err, "page.js")
	none, err := asset.Load(fstest.MapFS{".gitkeep": {}})
	require.NoError(t, err)
	require.Empty(t, none)
}
