package crud_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/crud"
	"lodestone/crud/session"
	"lodestone/pkg/problem"
	"lodestone/pkg/test/countrytest"
)

// A download that waits for the collector says what browser it was and where. An export has it, and an erasure removes it; the event
// is reported all the same.
func TestErasingReachesReportsThatWait(t *testing.T) {
	t.Parallel()
	r := newReadingAlone(t, 0, withLog(t.TempDir()), func(c *crud.Config) { c.Country.Database = countrytest.Germany(t, "127.0.0.0/8") })
	r.ears.answer(http.StatusServiceUnavailable)
	link, path := r.link("")
	_, o := r.open(path, "{}")
	r.ask("GET", o.Download+"&d="+uuid.Must(uuid.NewV7()).String(), "", "Accept-Language", "gsw")
	require.Eventually(t, func() bool { return len(r.ears.all()) > 0 }, testTimeout, 20*time.Millisecond)
	require.Equal(t, "Mozilla/5.0 Reader/1", r.ears.all()[0].header.Get("User-Agent"))
	id, err := uuid.Parse(link)
	require.NoError(t, err)
	var waits []session.Waiting
	require.NoError(t, r.fixture.db.AccountSnapshot(t.Context(), r.account, func(tx pgx.Tx) (err error) {
		waits, err = session.ReportsAbout(t.Context(), tx, []uuid.UUID{id})
		return err
	}))
	require.Len(t, waits, 1)
	require.Equal(t, "download_completed", waits[0].EventType)
	require.Equal(t, o.SessionID, waits[0].SessionID)
	require.Equal(t, "Mozilla/5.0 Reader/1", waits[0].UserAgent)
	require.Equal(t, "gsw", waits[0].Language)
	require.Equal(t, "DE", waits[0].Country)

	done := r.post(t, erasePath, `{"email":"ada@example.com"}`)
	require.Equal(t, http.StatusCreated, done.status, done.body)
	require.Empty(t, r.post(t, "/api/v1/people/export", `{"email":"ada@example.com"}`).object(t)["reports"])
	jobs := r.fixture.table(t, "river_job")
	require.Contains(t, jobs, o.SessionID.String())
	for _, mark := range []string{"Reader/1", "gsw", `"DE"`} {
		require.NotContains(t, jobs, mark)
	}
	before := len(r.ears.all())
	r.ears.answer(0)
	require.Eventually(t, func() bool { return len(r.ears.all()) > before }, testTimeout, 20*time.Millisecond)
	last := r.ears.all()[before]
	require.Equal(t, waits[0].EventID.String(), last.event["event_id"])
	require.Empty(t, last.header.Get("Lodestone-Country")+last.header.Get("Accept-Language"))
}

// An installation without exports cannot export a person's events. The answer has the remedy, and does not ask to try again.
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
