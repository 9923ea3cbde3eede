package asset_test

import (
	"bytes"
	"image/png"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/asset"
)

func getLook(t *testing.T, path string) *httptest.ResponseRecorder {
	t.Helper()
	mux := http.NewServeMux()
	asset.MountLook(mux.Handle)
	out := httptest.NewRecorder()
	mux.ServeHTTP(out, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	require.Equal(t, http.StatusOK, out.Code, path)
	return out
}

func TestTheTypefaceIsSmallAndKeptForGood(t *testing.T) {
	t.Parallel()
	out := getLook(t, asset.FontPath)
	require.Equal(t, "font/woff2", out.Header().Get("Content-Type"))
	require.Contains(t, out.Header().Get("Cache-Control"), "immutable")
	require.True(t, bytes.HasPrefix(out.Body.Bytes(), []byte("wOF2")))
	require.Less(t, out.Body.Len(), 35<<10)
	require.Contains(t, asset.FontCSS("/base"), `url("/base`+asset.FontPath+`")`)
	require.Contains(t, asset.FontCSS(""), "font-display:optional")
}

func TestBrowsersGetAnIcon(t *testing.T) {
	t.Parallel()
	svg := getLook(t, asset.IconPath)
	require.Equal(t, "image/svg+xml", svg.Header().Get("Content-Type"))
	require.Contains(t, svg.Body.String(), "prefers-color-scheme:dark")
	ico := getLook(t, "/favicon.ico").Body.Bytes()
	picture, err := png.Decode(bytes.NewReader(ico[22:]))
	require.NoError(t, err)
	alpha := func(x, y int) uint32 { _, _, _, a := picture.At(x, y).RGBA(); return a }
	require.Zero(t, alpha(0, 0), "around the stone")
	require.Equal(t, uint32(0xffff), alpha(6, 20), "the stone")
	require.Zero(t, alpha(16, 16), "the needle")
}

func TestCrawlersAreKeptFromTheAPI(t *testing.T) {
	t.Parallel()
	text := getLook(t, "/robots.txt").Body.String()
	require.True(t, strings.HasPrefix(text, "User-agent: *\n"))
	require.Contains(t, text, "Disallow: /api/\n")
}
