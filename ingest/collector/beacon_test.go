package collector_test

import (
	"net/http"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"lodestone/ingest/collector"
	"lodestone/pkg/asset"
)

func TestBeacon(t *testing.T) {
	t.Parallel()
	files, err := asset.Load(fstest.MapFS{"beacon.js": {Data: []byte("plain")}, "beacon.js.gz": {Data: []byte("gzipped")}})
	require.NoError(t, err)
	script := files["beacon.js"]
	s := newStack(t, func(_ *collector.Config, d *collector.Deps) { d.Beacon = script })
	const path = "/v1/beacon.js"

	a := s.do(t, http.MethodGet, "/v1/lodestone.js", nil)
	require.Equal(t, 200, a.status)
	require.Equal(t, "plain", a.body, "a second name, which lists of content blockers do not have")

	a = s.do(t, http.MethodGet, path, nil)
	require.Equal(t, 200, a.status)
	require.Equal(t, "plain", a.body)
	for name, value := range map[string]string{
		"Content-Type":                 "text/javascript; charset=utf-8",
		"X-Content-Type-Options":       "nosniff",
		"Cache-Control":                "public, max-age=3600, stale-while-revalidate=86400",
		"ETag":                         script.ETag,
		"Vary":                         "Accept-Encoding",
		"Content-Encoding":             "",
		"Cross-Origin-Resource-Policy": "cross-origin",
		"Access-Control-Allow-Origin":  "*",
		"Set-Cookie":                   "",
	} {
		require.Equal(t, value, a.header.Get(name), name)
	}

	a = s.do(t, http.MethodGet, path, nil, "Accept-Encoding", "br, gzip")
	require.Equal(t, "gzipped", a.body)
	require.Equal(t, "gzip", a.header.Get("Content-Encoding"))

	a = s.do(t, http.MethodHead, path, nil)
	require.Equal(t, 200, a.status)
	require.Empty(t, a.body)

	a = s.do(t, http.MethodGet, path, nil, "If-None-Match", `W/"other", `+script.ETag)
	require.Equal(t, 304, a.status)
	require.Empty(t, a.body)
	require.Equal(t, script.ETag, a.header.Get("ETag"))

	a = s.do(t, http.MethodPost, path, nil)
	require.Equal(t, 405, a.status)
	require.Equal(t, "GET, HEAD", a.header.Get("Allow"))

	without := newStack(t)
	a = without.do(t, http.MethodGet, path, nil)
	require.Equal(t, 404, a.status)
	require.Contains(t, a.Detail, "make web")
}
