package crud_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/crud"
	"lodestone/crud/account"
	"lodestone/pkg/test"
)

// A file of the query process may take longer than other answers, and one that breaks off is broken
// here as well.
func TestFilesOfAnalyticsArePassedOnAndBrokenOff(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("x", 1<<10) + "\n"
	query := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for range 1 << 10 {
			_, _ = io.WriteString(w, line)
		}
		if r.URL.Query().Has("broken") {
			panic(http.ErrAbortHandler)
		}
	}))
	defer query.Close()
	f := start(t, func(c *crud.Config) { c.QueryURL = query.URL })
	u := f.user(t, account.Free)
	site := httptest.NewUnstartedServer(f.api)
	site.Config.WriteTimeout = time.Nanosecond // over when the answer begins
	site.Start()
	defer site.Close()
	read := func(query string) (int, error) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
			site.URL+"/api/v1/analytics/export?"+query, http.NoBody)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+u.key)
		got, err := site.Client().Do(r)
		if err != nil { // it was broken off before the header was sent
			return 0, err
		}
		text, err := io.ReadAll(got.Body)
		require.NoError(t, got.Body.Close())
		return len(text), err
	}
	n, err := read("format=csv")
	require.NoError(t, err)
	require.Equal(t, len(line)<<10, n)
	n, err = read("format=csv&broken=1")
	require.Error(t, err)
	require.LessOrEqual(t, n, len(line)<<10)
}

// The query process is reached over TLS if the system trusts its authority.
func TestAnalyticsOverTLS(t *testing.T) {
	t.Parallel()
	query := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_,
			_ = io.WriteString(w, "{}")
	}))
	t.Cleanup(query.Close)
	for a, status := range map[*test.Authority]int{test.NewAuthority(t): 503,
		test.Trusted(t): 200} {
		f := start(t, func(c *crud.Config) {
			c.QueryURL = "https://" + test.Proxy(t, strings.TrimPrefix(query.URL, "http://"), a.Issue("query"))
		})
		u := f.user(t, account.Free)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.url+"/api/v1/analytics", http.NoBody)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+u.key)
		answer, err := f.http.Do(r)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, status, answer.StatusCode)
	}
}
