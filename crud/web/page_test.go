package web_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/crud/web"
	"lodestone/pkg/problem"
)

func site(t *testing.T) (*web.Site, *strings.Builder) {
	t.Helper()
	return private(t, "", "")
}

func private(t *testing.T, cookie, secret string) (*web.Site, *strings.Builder) {
	t.Helper()
	log := &strings.Builder{}
	s, err := web.New(web.Deps{Site: "https://links.example.com", Log: slog.New(slog.NewTextHandler(log, nil)),
		Cookie: cookie, Secret: secret})
	require.NoError(t, err)
	return s, log
}

type answer struct {
	*httptest.ResponseRecorder
}

func (a answer) text() string { return a.Body.String() }

func ask(h http.Handler, method, target string, header ...string) answer {
	r := httptest.NewRequestWithContext(context.Background(), method, target, http.NoBody)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return answer{w}
}

func TestPageIsSealed(t *testing.T) {
	t.Parallel()
	s, _ := site(t)
	files := fstest.MapFS{
		"x.html": {Data: []byte(
			`{{define "content"}}<p>{{.Data}}</p><script nonce="{{.Nonce}}">const x = {{.Data}};</script>{{end}}`)},
		"x.css": {Data: []byte("p {\n  color: red; /* a note */\n}\n")},
	}
	tmpl, err := s.Parse(files, "x.html", "x.css")
	require.NoError(t, err)
	evil := `</script><img src=x onerror=alert(1)>"'`
	h := s.Serve(func(w http.ResponseWriter, r *http.Request) error {
		return tmpl.Write(w, r, 200, web.Page{Title: evil, Description: evil, Data: evil,
			Brand: web.Brand{Name: evil, Accent: "red;}</style>"}, Policy: web.Policy{
				Connect: []string{"http://127.0.0.1:8081/v1"}, Images: []string{"https://cdn.example.com/a.png",
					"https://a;script-src.example/x.png", "javascript:alert(1)"},
				Forms: []string{"https://thanks.example.com/x?y=1"},
			}})
	})
	one, two := ask(h, "GET", "/x"), ask(h, "GET", "/x")
	require.Equal(t, 200, one.Code)
	require.NotContains(t, one.text(), "<img")
	require.Contains(t, one.text(), "p {\n  color: red; /* a note */\n}\n</style>")
	policy := one.Header().Get("Content-Security-Policy")
	nonce := regexp.MustCompile(`'nonce-(\w{26})'`).FindStringSubmatch(policy)[1]
	require.NotContains(t, two.Header().Get("Content-Security-Policy"), nonce)
	require.Equal(t, 2, strings.Count(one.text(), `nonce="`+nonce+`"`))
	require.Equal(t, "default-src 'none'; style-src 'nonce-"+nonce+
		"'; img-src 'self' data: https://cdn.example.com; form-action 'self' https:; "+
		"base-uri 'none'; frame-ancestors 'none'; script-src 'nonce-"+nonce+"'; connect-src http://127.0.0.1:8081", policy)
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "same-origin",
		"Cache-Control":              "no-store",
		"Cross-Origin-Opener-Policy": "same-origin", "X-Robots-Tag": "noindex, nofollow",
	} {
		require.Equal(t, want, one.Header().Get(name), name)
	}
	require.Contains(t, one.Header().Get("Permissions-Policy"), "camera=()")
	require.Empty(t, one.Header().Values("Set-Cookie"))
	require.Empty(t, ask(h, "HEAD", "/x").text())
}

func TestEveryStatusPage(t *testing.T) {
	t.Parallel()
	s, _ := site(t)
	for kind := web.NotFound; kind <= web.Failed; kind++ {
		h := s.Serve(func(http.ResponseWriter, *http.Request) error {
			st := web.Error(kind, web.Brand{Name: "Acme & Sons"})
			st.Wait = 90 * time.Second
			return fmt.Errorf("in a handler: %w", st)
		})
		a := ask(h, "GET", "/l/x")
		require.Equal(t, kind.StatusCode(), a.Code)
		require.GreaterOrEqual(t, a.Code, 400)
		require.Contains(t, a.text(), "<h1>")
		require.Contains(t, a.text(), "Acme &amp; Sons")
		require.Contains(t, a.text(), "Try again in 2 minutes.")
		require.Equal(t, "90", a.Header().Get("Retry-After"))
		require.Less(t, a.Body.Len(), 10<<10)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	s, log := site(t)
	for _, test := range []struct {
		err    error
		status int
	}{
		{errors.New("the secret cause"), 500},
		{fmt.Errorf("x: %w", context.DeadlineExceeded), 503},
		{&http.MaxBytesError{Limit: 1}, 413},
	} {
		a := ask(s.Serve(func(http.ResponseWriter, *http.Request) error { return test.err }), "GET", "/a/secret")
		require.Equal(t, test.status, a.Code)
		require.NotContains(t, a.text(), "secret cause")
	}
	require.Contains(t, log.String(), "the secret cause")
	require.NotContains(t, log.String(), "/a/secret")
}

func TestWhatIsNotThereLeadsSomewhere(t *testing.T) {
	t.Parallel()
	s, _ := site(t)
	missing := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.WriteProblem(w,
			r, problem.Missing("page"))
	})
	const home = `<a class="button" href="/dashboard">`
	for _, path := range []string{"/dashboard/nothing", "/dashboard/links/x/y", "/dashboard/settings/old"} {
		a := ask(missing, "GET", path)
		require.Equal(t, http.StatusNotFound, a.Code, path)
		require.Contains(t, a.text(), home, "%s: who works there has a way on", path)
	}
	for _, path := range []string{"/l/nothing", "/a/nothing", "/dashboards"} {
		require.NotContains(t, ask(missing, "GET", path).text(), home, "%s: a visitor has no dashboard", path)
	}
}

func TestFormsOfOtherSitesAreRefused(t *testing.T) {
	t.Parallel()
	s, _ := site(t)
	h := s.Serve(func(w http.ResponseWriter, _ *http.Request) error {
		w.WriteHeader(http.StatusNoContent)
		return nil
	})
	for _, test := range []struct {
		header []string
		status int
	}{
		{nil, 204}, // a program, or an old browser
		{[]string{"Sec-Fetch-Site", "same-origin"}, 204},
		{[]string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"}, 403},
		{[]string{"Sec-Fetch-Site", "same-site", "Origin", "https://other.example.com"}, 403},
		{[]string{"Origin", "https://evil.example"}, 403},
		{[]string{"Origin", "null"}, 403},
		{[]string{"Origin", "https://links.example.com"}, 204}, // behind a proxy that changes Host
	} {
		require.Equal(t, test.status, ask(h, "POST", "/l/x", test.header...).Code, test.header)
	}
	require.Equal(t, 204, ask(h, "GET", "/l/x", "Sec-Fetch-Site", "cross-site").Code)
}

// A URL that no browser can follow is refused, with what is wrong with it.
func TestCheckURL(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://a.example/x": "", "http://a.example:1/": "", "https://[::1]:65535": "", "https://a.example:/": "",
		"https://a.example:080/":   "",
		"https://a.example:65536/": "ports are 1 to 65535", "https://a.example:0": "ports are 1 to 65535",
		"https://[::1]:99999/":                    "ports are 1 to 65535",
		"https://a.example:18446744073709551617/": "ports are 1 to 65535",
		"https://a.example:x/":                    "full http or https URL, such as https://example.com",
		"ftp://a.example/":                        "full http", "https://": "full http", "https://:443/": "full http",
		"//a.example/": "full http", "https://u:p@a.example/": "full http",
		"javascript:alert(1)": "full http", "": "full http",
	} {
		got := web.CheckURL(address, "https://example.com")
		require.Equal(t, want == "", got == "", "%s: %s", address, got)
		require.Contains(t, got, want, address)
	}
}

func TestOrigin(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://Example.com/x?y": "https://example.com", "http://127.0.0.1:8081": "http://127.0.0.1:8081",
		"https://[::1]:8/":          "https://[::1]:8",
		"https://exämple.com:444/x": "https://xn--exmple-cua.com:444", "https://a;script-src": "", "https://a,b/": "",
		"https://a'b/": "", "https://*/": "",
		"javascript:alert(1)": "", "//example.com": "", "/x": "", "": "", "https://": "",
		"data:x": "", "https://ex ample.com": "",
		"https://a.example:65536": "", "https://a.example:0": "", "https://a.example:65535": "https://a.example:65535",
	} {
		require.Equal(t, want, web.Origin(address), address)
	}
}
