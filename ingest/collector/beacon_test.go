package collector_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/ingest/beacon"
	"lodestone/ingest/collector"
)

func TestBeacon(t *testing.T) {
	t.Parallel()
	script := &beacon.Script{Plain: []byte("plain"), Gzipped: []byte("gzipped"), ETag: `W/"tag"`}
	s := newStack(t, func(_ *collector.Config, d *collector.Deps) { d.Beacon = script })
	const path = "/v1/beacon.js"

	a := s.do(t, http.MethodGet, path, nil)
	require.Equal(t, 200, a.status)
	require.Equal(t, "plain", a.body)
	for name, value := range map[string]string{
		"Content-Type":                 "text/javascript; charset=utf-8",
		"X-Content-Type-Options":       "nosniff",
		"Cache-Control":                "public, max-age=3600, stale-while-revalidate=86400",
		"ETag":                         `W/"tag"`,
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

	a = s.do(t, http.MethodGet, path, nil, "If-None-Match", `W/"other", W/"tag"`)
	require.Equal(t, 304, a.status)
	require.Empty(t, a.body)
	require.Equal(t, `W/"tag"`, a.header.Get("ETag"))

	a = s.do(t, http.MethodPost, path, nil)
	require.Equal(t, 405, a.status)
	require.Equal(t, "GET, HEAD", a.header.Get("Allow"))

	without := newStack(t)
	a = without.do(t, http.MethodGet, path, nil)
	require.Equal(t, 404, a.status)
	require.Contains(t, a.Detail, "make web")
}
