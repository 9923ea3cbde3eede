package query_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
	"lodestone/pkg/test/enginetest"
	"lodestone/query/querytest"
)

// Reports count what the people did whom the list of readers has under the same filters.
func TestReportsOfSomePeople(t *testing.T) {
	t.Parallel()
	a := newReadersAccount(t)
	s, _ := serve(t, config(), enginetest.MigratedClickHouse(t), a.pool)
	bob, other := querytest.ID(t), querytest.ID(t)
	a.exec(`INSERT INTO access_links (id, account_id, lead_magnet_id, email, email_key, token_hash, token_sealed, token_key, created_at)
		VALUES ($1, $2, $3, 'bob@example.com', 'bob@example.com', sha256($4::text::bytea), '', 0, '2026-03-01T10:00:01Z')`,
		bob, a.account, a.magnet, bob.String())
	require.NoError(t, querytest.Conn(t).Exec(t.Context(), fmt.Sprintf(`INSERT INTO lodestone.access_links
		(id, account_id, lead_magnet_id, person_id, source, created_at, version) VALUES ('%s', '%s', '%s', '%s', 'api', '2026-03-01 10:00:01', 1)`,
		bob, a.account, a.magnet, uuid.New())))
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	a.store(a.link, event.PageViewed, 1, at, "")
	a.store(a.link, event.PageViewed, 2, at.Add(time.Minute), "")
	a.store(a.link, event.DownloadCompleted, 0, at.Add(2*time.Minute), "")
	a.store(bob, event.PageViewed, 1, at.Add(3*time.Minute), "")
	a.store(bob, event.PageViewed, 1, at.AddDate(0, 0, 1), "")

	ask := func(account uuid.UUID, people, more string) (totals map[string]any) {
		got := s.questionBy("read,leads:"+account.String(), fmt.Sprintf(`{"metrics":["people","page_views","median_page_ms"],"from":"2026-03-01","to":"2026-03-02",
			"filters":{"lead_magnet_id":["%s"]},"people":%s%s}`, a.magnet, people, more))
		require.Equal(t, http.StatusOK, got.status, "%s", got.body)
		var body struct {
			Data []struct{ Totals map[string]any }
		}
		require.NoError(t, json.Unmarshal(got.body, &body))
		return body.Data[0].Totals
	}
	for _, c := range []struct {
		people        string
		params        url.Values
		number, views int
	}{
		{`{}`, nil, 2, 3},
		{`{"finished":true}`, values("finished", "true"), 1, 2},
		{`{"finished":false}`, values("finished", "false"), 1, 1},
		{`{"downloaded":true}`, values("downloaded", "true"), 1, 2},
		{`{"stopped_at":1}`, values("stopped_at", "1"), 1, 1},
		{`{"reached":1}`, values("reached", "1"), 2, 3},
		{`{"min_pages":3}`, values("min_pages", "3"), 0, 0},
		{`{"from_form":true}`, values("from_form", "true"), 1, 2},
		{`{"field":["company:acme"]}`, values("field", "company:acme"), 1, 2},
		{`{"status":"New"}`, values("status", "New"), 2, 3},
		{`{"status":"New","finished":false}`, values("status", "New", "finished", "false"), 1, 1},
	} {
		totals := ask(a.account, c.people, "")
		require.EqualValues(t, c.number, totals["people"], c.people)
		require.EqualValues(t, c.views, totals["page_views"], c.people)
		totals = ask(a.account, c.people, `,"interval":"day","compare":"previous","dimensions":["device"]`)
		require.EqualValues(t, c.views, totals["page_views"], c.people)
		require.Zero(t, ask(other, c.people, "")["people"], c.people)

		params := values("lead_magnet_id", a.magnet.String(), "from", "2026-03-01T00:00:00Z",
			"to", "2026-03-02T00:00:00Z")
		maps.Copy(params, c.params)
		_, listed := s.ask(a.account, readersPath, params)
		require.EqualValues(t, c.number, listed["pagination"].(map[string]any)["total"], c.people)
		_, pages := s.ask(a.account, "/api/v1/analytics/pages", params)
		reached := any(0)
		if list := pages["data"].([]any); len(list) > 0 {
			reached = list[0].(map[string]any)["people_reached"]
		}
		require.EqualValues(t, c.number, reached, c.people)
	}

	// Visitors and forms are of no one who is known; who may not read leads may not ask for them.
	refused := s.question(a.account, `{"metrics":["people","visitors"],"people":{"finished":true}}`)
	require.Equal(t, http.StatusUnprocessableEntity, refused.status)
	_, fields := refused.problem(t)
	require.Equal(t, []string{"people"}, fields)
	for _, params := range []url.Values{values("status", "New"), values("field", "company:acme")} {
		params.Set("lead_magnet_id", a.magnet.String())
		require.Equal(t, http.StatusForbidden,
			s.do("GET", "Bearer read:"+a.account.String(), "/api/v1/analytics/pages?"+params.Encode()).status)
	}
}
