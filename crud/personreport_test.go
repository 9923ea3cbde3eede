package crud_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/crud"
	"lodestone/pkg/problem"
)

// An installation without exports cannot export a person's events. The answer has the remedy, and
// does not ask to try again.
func TestExportOfAPersonWithoutExports(t *testing.T) {
	t.Parallel()
	const remedy = "its operator can set --clickhouse-http-url"
	query := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusServiceUnavailable)
		_ = json.NewEncoder(w).Encode(problem.New(problem.Unavailable, "This installation has no exports: "+remedy+"."))
	}))
	defer query.Close()
	r := newReadingAlone(t, 0, func(c *crud.Config) { c.QueryURL = query.URL })
	r.link("")
	got := r.post(t, "/api/v1/people/export", `{"email":"ada@example.com"}`)
	require.Equal(t, http.StatusServiceUnavailable, got.status)
	require.Contains(t, got.body, remedy)
	require.Equal(t, "3600", got.header.Get("Retry-After"))
}
