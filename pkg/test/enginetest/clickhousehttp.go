package enginetest

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// clickhousePages are the paths that ClickHouse serves by default, or with settings that it has.
var clickhousePages = strings.Fields(`/play /dashboard /binary /merges /jemalloc /schema /docs /clickstack /webterminal /replicas_status
	/metrics /write /read /api/v1/query /api/v1/write /js/uplot.js /js/lz-string.js /keeper /commands /ready /mcp /insert /ping/ /Ping //ping //
	/%2e/play /play/ /ping/../play /.. /?/../play`)

// CheckClickHouseHTTP checks that an HTTP port of ClickHouse answers queries and health checks, and
// nothing else: no page, no other method, no page of a browser, no foreign host. address has the
// name and the password of a user.
func CheckClickHouseHTTP(t *testing.T, address string) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	status := func(method, target string, change func(*http.Request)) int {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, "http://"+u.Host+"/", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		request.URL.Opaque = target // as it is
		request.SetBasicAuth(u.User.Username(), password(u))
		if change != nil {
			change(request)
		}
		response, err := client.Do(request)
		if err != nil {
			t.Fatalf("%s %s: %v", method, target, err)
		}
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
		if origin := response.Header.Get("Access-Control-Allow-Origin"); origin != "" {
			t.Errorf("%s %s may be read by pages of %s", method, target, origin)
		}
		return response.StatusCode
	}
	const ask = "/?query=SELECT+1&add_http_cors_header=1"
	for _, target := range []string{"/ping", "/?query=SELECT+1"} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			if got := status(method, target, nil); got != http.StatusOK {
				t.Errorf("%s %s: %d", method, target, got)
			}
		}
		for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodOptions,
			http.MethodTrace, "PROPFIND"} {
			if got := status(method, target, nil); got < 400 {
				t.Errorf("%s %s: %d", method, target, got)
			}
		}
		for name, values := range map[string][]string{
			"Origin": {"https://evil.example", "http://" + u.Host, "http://localhost", "null", "file://"},
			"Host": {"evil.example", "evil.example:" + u.Port(), u.Host + ".evil.example", "evil.example." + u.Host,
				"127.0.0.1:1:2", "127.0.0.1@evil.example", "localhost.evil.example", "evil.example#localhost"},
		} {
			for _, value := range values {
				got := status(http.MethodGet, target, func(r *http.Request) {
					if name == "Host" {
						r.Host = value
						return
					}
					r.Header.Set(name, value)
				})
				if got < 400 {
					t.Errorf("GET %s with %s: %s: %d", target, name, value, got)
				}
			}
		}
		for _, host := range []string{"127.0.0.1", "localhost:8123", "[::1]:8123", u.Host} {
			if got := status(http.MethodGet, target, func(r *http.Request) { r.Host = host }); got != http.StatusOK {
				t.Errorf("GET %s with Host: %s: %d", target, host, got)
			}
		}
	}
	for _, page := range clickhousePages {
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
			if got := status(method, page, nil); got < 400 {
				t.Errorf("%s %s: %d", method, page, got)
			}
		}
		if got := status(http.MethodGet, page, func(r *http.Request) {
			r.Header.Set("Connection", "Upgrade")
			r.Header.Set("Upgrade", "websocket")
			r.Header.Set("Sec-WebSocket-Version", "13")
			r.Header.Set("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA==")
		}); got < 400 {
			t.Errorf("%s answers a WebSocket: %d", page, got)
		}
	}
	status(http.MethodOptions, ask, func(r *http.Request) { r.Header.Set("Access-Control-Request-Method", "POST") })
	status(http.MethodGet, ask, nil)
}

func password(u *url.URL) string {
	text, _ := u.User.Password()
	return text
}
