package api_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
)

// reaction is an answer that was read to its end.
type reaction struct {
	StatusCode int
	Header     http.Header
}

// raw sends a request without the transport's own compression, and without a key unless given.
func raw(t *testing.T, s *httptest.Server, method, path string, header http.Header) (reaction, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, http.NoBody)
	require.NoError(t, err)
	maps.Copy(req.Header, header)
	client := &http.Client{Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}
	res, err := client.Do(req)
	require.NoError(t, err)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	return reaction{res.StatusCode, res.Header}, body
}

func TestOptions(t *testing.T) {
	t.Parallel()
	s := newServer(t, io.Discard)
	for path, allow := range map[string]string{
		"/api/v1/things": "GET, HEAD, POST, OPTIONS",
		"/api/v1/things/0191d3c5-8a4e-7c1f-9b1d-3f2f6f0a7e55": "GET, HEAD, OPTIONS",
		"/api/v1/openapi.json":                                "GET, HEAD, OPTIONS",
	} {
		res, body := raw(t, s, http.MethodOptions, path, http.Header{"Origin": {"https://example.com"},
			"Access-Control-Request-Method": {"POST"}})
		require.Equal(t, 204, res.StatusCode, path)
		require.Equal(t, allow, res.Header.Get("Allow"))
		require.Empty(t, body)
		require.Empty(t, res.Header.Get("Access-Control-Allow-Origin"), "a key has no place in a page of another site")
		require.NotEmpty(t, res.Header.Get(api.RequestIDHeader))
	}
	res, _ := raw(t, s, http.MethodOptions, "/api/v1/nothing", nil)
	require.Equal(t, 404, res.StatusCode)
	// Of the server as a whole, which a client asks for by an asterisk alone.
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodOptions, "/", http.NoBody)
	r.URL.Path, r.RequestURI = "*", "*"
	s.Config.Handler.ServeHTTP(w, r)
	require.Equal(t, 204, w.Code)
	require.Equal(t, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS", w.Header().Get("Allow"))
}

func TestHead(t *testing.T) {
	t.Parallel()
	s := newServer(t, io.Discard)
	key := http.Header{"Authorization": {"Bearer both"}}
	for path, status := range map[string]int{
		"/api/v1/things?email=a": 200,
		"/api/v1/things":         400,
		"/api/v1/things/x":       404,
		"/api/v1/openapi.json":   200,
	} {
		head, body := raw(t, s, http.MethodHead, path, key)
		require.Equal(t, status, head.StatusCode, path)
		require.Empty(t, body)
		get, _ := raw(t, s, http.MethodGet, path, key)
		require.Equal(t, status, get.StatusCode)
		for name := range get.Header {
			if name != "Date" && name != api.RequestIDHeader {
				require.Equal(t, get.Header.Get(name), head.Header.Get(name), "%s of %s", name, path)
			}
		}
	}
}

func TestGzip(t *testing.T) {
	t.Parallel()
	a := api.New(api.Deps{Verifier: keys{"key": {Scopes: auth.Scopes()}}, Log: slog.New(slog.DiscardHandler)})
	text := strings.Repeat("lodestone ", 500)
	type body struct {
		Text string `json:"text"`
	}
	register := func(path, text string, header http.Header) {
		api.Register(a, api.Operation{ID: path[1:], Method: "GET", Path: path, Scope: auth.Read},
			func(context.Context, *struct{}) (*api.Answer[body], error) {
				return &api.Answer[body]{Body: body{text}, Header: header}, nil
			})
	}
	register("/long", text, nil)
	register("/short", "x", nil)
	register("/tagged", text, http.Header{"Etag": {`"1"`}})
	s := httptest.NewServer(a)
	defer s.Close()
	for _, test := range []struct {
		path, accept string
		packed       bool
	}{
		{"/long", "gzip", true},
		{"/long", "br, gzip;q=0.5", true},
		{"/long", "*", true},
		{"/long", "", false},
		{"/long", "identity", false},
		{"/long", "gzip;q=0", false},
		{"/long", "gzip;q=0, *", false},
		{"/short", "gzip", false},
		{"/tagged", "gzip", true},
	} {
		res, got := raw(t, s, http.MethodGet, test.path, http.Header{"Authorization": {"Bearer key"},
			"Accept-Encoding": {test.accept}})
		require.Equal(t, 200, res.StatusCode)
		require.Equal(t, test.packed, res.Header.Get("Content-Encoding") == "gzip", test)
		require.Equal(t, test.path != "/short", res.Header.Get("Vary") == "Accept-Encoding", test)
		if test.packed {
			require.Less(t, len(got), 1000)
			unpack, err := gzip.NewReader(bytes.NewReader(got))
			require.NoError(t, err)
			got, err = io.ReadAll(unpack)
			require.NoError(t, err)
			if test.path == "/tagged" {
				require.Equal(t, `W/"1"`, res.Header.Get("ETag"), "these are not the same bytes")
			}
		}
		var b body
		require.NoError(t, json.Unmarshal(got, &b))
	}
	// Pages are smaller by brotli.
	a.Handle("GET /page", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		_, _ = io.WriteString(w, text)
	}))
	for accept, coding := range map[string]string{"gzip, deflate, br, zstd": "br", "br": "br",
		"gzip, br;q=0": "gzip", "gzip": "gzip", "": ""} {
		for range 2 { // the second with the packer of the first
			res, got := raw(t, s, http.MethodGet, "/page", http.Header{"Accept-Encoding": {accept}})
			require.Equal(t, coding, res.Header.Get("Content-Encoding"), accept)
			if coding == "br" {
				var err error
				got, err = io.ReadAll(brotli.NewReader(bytes.NewReader(got)))
				require.NoError(t, err)
				require.Equal(t, text, string(got))
			}
		}
	}
	// A problem is compressed as well, and a HEAD says what a GET would.
	res, got := raw(t, s, http.MethodHead, "/long", http.Header{"Authorization": {"Bearer key"},
		"Accept-Encoding": {"gzip"}})
	require.Equal(t, "gzip", res.Header.Get("Content-Encoding"))
	require.Empty(t, got)
}

func TestSpec(t *testing.T) {
	t.Parallel()
	s := newServer(t, io.Discard)
	res, body := raw(t, s, http.MethodGet, "/api/v1/openapi.json", nil)
	require.Equal(t, 200, res.StatusCode)
	require.Equal(t, "application/json", res.Header.Get("Content-Type"))
	var spec struct {
		OpenAPI string
		Paths   map[string]map[string]struct {
			OperationID string `json:"operationId"`
			Security    []map[string][]string
			Parameters  []map[string]any
			Responses   map[string]struct {
				Ref   string `json:"$ref"`
				Links map[string]any
			}
		}
		Components struct {
			Schemas map[string]struct {
				Properties map[string]map[string]any
			}
			Responses       map[string]struct{ Content map[string]any }
			SecuritySchemes map[string]map[string]any
		}
	}
	require.NoError(t, json.Unmarshal(body, &spec))
	require.Equal(t, "3.1.0", spec.OpenAPI)
	require.Equal(t, "bearer", spec.Components.SecuritySchemes["key"]["scheme"])
	thing := spec.Paths["/api/v1/things"]["post"]
	require.Equal(t, "make-thing", thing.OperationID)
	require.NotEmpty(t, thing.Security)
	for _, status := range []string{"201", "400", "401", "403", "413", "415", "422", "500", "503"} {
		require.Contains(t, thing.Responses, status)
	}
	require.Contains(t, thing.Responses["201"].Links, "get-thing")
	for status, answer := range thing.Responses {
		if status < "300" {
			continue
		}
		name, found := strings.CutPrefix(answer.Ref, "#/components/responses/")
		require.True(t, found)
		require.Contains(t, spec.Components.Responses[name].Content, problem.ContentType)
	}
	require.Len(t, spec.Components.Schemas["Problem"].Properties["code"]["enum"], len(problem.Codes()))
	title := spec.Components.Schemas["ThingBody"].Properties["title"]
	require.Contains(t, title["pattern"], `\u0000-\u001f`, "a fuzzer knows what is refused")
	_, again := raw(t, s, http.MethodGet, "/api/v1/openapi.json", nil)
	require.Equal(t, body, again)
}

// What is described only is answered elsewhere, and leaves no trace in the routes.
func TestDescriptionOnly(t *testing.T) {
	t.Parallel()
	a := api.New(api.Deps{Verifier: keys{}, Log: slog.New(slog.DiscardHandler)})
	api.Register(a.DescriptionOnly(), api.Operation{ID: "elsewhere", Method: "GET", Path: "/elsewhere", Scope: auth.Read},
		func(context.Context, *struct {
			ID *uuid.UUID `query:"id"`
		}) (*api.Answer[string], error) {
			return api.OK("x"), nil
		})
	text, err := a.Spec()
	require.NoError(t, err)
	require.Contains(t, string(text), `"operationId": "elsewhere"`)
	w := httptest.NewRecorder()
	a.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/elsewhere", http.NoBody))
	require.Equal(t, 404, w.Code)
}

// The page shows every operation and code, and loads nothing from anywhere.
func TestDocs(t *testing.T) {
	t.Parallel()
	s := newServer(t, io.Discard)
	res, body := raw(t, s, http.MethodGet, "/api/v1/docs", nil)
	require.Equal(t, 200, res.StatusCode)
	require.Equal(t, "text/html; charset=utf-8", res.Header.Get("Content-Type"))
	policy := res.Header.Get("Content-Security-Policy")
	require.True(t, strings.HasPrefix(policy,
		"default-src 'none'; connect-src 'self'; font-src 'self'; img-src 'self'; style-src 'sha256-"), policy)
	require.NotContains(t, policy, "unsafe")
	for _, id := range []string{"make-thing", "list-things", "get-thing", "break-thing"} {
		require.Contains(t, string(body), `<article id="`+id+`"`)
		require.Contains(t, string(body), `href="#`+id+`"`)
	}
	for _, c := range problem.Codes() {
		require.Contains(t, string(body), "<code>"+string(c)+"</code>")
	}
	require.NotRegexp(t, `(src|href)="(https?:)?//`, string(body))
	require.NotContains(t, string(body), "ZgotmplZ", "the template refused a value")
	// The policy allows exactly the styles of the page.
	_, after, found := strings.Cut(string(body), "<style>")
	require.True(t, found)
	style, _, _ := strings.Cut(after, "</style>")
	sum := sha256.Sum256([]byte(style))
	require.Contains(t, policy, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	require.NotContains(t, string(body), "<script>")
	_, after, found = strings.Cut(string(body), `<script src="`)
	require.True(t, found)
	name, _, _ := strings.Cut(after, `"`)
	res, script := raw(t, s, http.MethodGet, "/api/v1/"+name, nil)
	require.Equal(t, 200, res.StatusCode)
	require.Equal(t, "text/javascript; charset=utf-8", res.Header.Get("Content-Type"))
	require.Contains(t, res.Header.Get("Cache-Control"), "immutable")
	require.Contains(t, string(script), "Python")
	// The words of an example are in the page once: the script writes the other languages.
	require.Contains(t, string(body), `data-method="POST"><figcaption><span>curl</span>`)
	require.NotContains(t, string(body), "urllib")
}
