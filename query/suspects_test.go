package query_test

import (
	"context"
	"encoding/json"
	"fmt"
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

// suspect adds a person with a link, who reads to the end in one session that a rule suspects.
func (a *readersAccount) suspect(rule, address string, at time.Time) (link uuid.UUID) {
	a.t.Helper()
	link = querytest.ID(a.t)
	a.exec(`INSERT INTO access_links (id, account_id, lead_magnet_id, email, email_key, token_hash, token_sealed, token_key)
		VALUES ($1, $2, $3, $4, $4, sha256($1::uuid::text::bytea), '', 0)`, link, a.account, a.magnet, address)
	a.exec(`INSERT INTO sessions (id, account_id, access_link_id, magnet_version, started_at, pages, duration_ms)
		VALUES ($1, $2, $1, 1, $3, '{1,2}', 90000)`, link, a.account, at)
	a.exec("INSERT INTO suspects (id, account_id, access_link_id, rule, started_at) VALUES ($1, $2, $1, $3, $4)",
		link, a.account, rule, at)
	conn := querytest.Conn(a.t)
	for _, sql := range []string{
		`INSERT INTO lodestone.access_links (id, account_id, lead_magnet_id, person_id, source, created_at, version)
			VALUES ('%[1]s', '%[2]s', '%[3]s', '%[1]s', 'api', now(), 1)`,
		"INSERT INTO lodestone.suspects (id, account_id, access_link_id, rule, version) VALUES ('%[1]s', '%[2]s', '%[1]s', '%[4]s', 1)",
	} {
		require.NoError(a.t, conn.Exec(context.Background(), fmt.Sprintf(sql, link, a.account, a.magnet, rule)))
	}
	a.read(link, at)
	return link
}

// read stores that both pages of the document were read in a session, which has the link's id.
func (a *readersAccount) read(link uuid.UUID, at time.Time) {
	a.t.Helper()
	a.store(link, event.PageViewed, 1, at, "")
	a.store(link, event.PageViewed, 2, at.Add(time.Minute), "")
}

func (s site) number(account uuid.UUID, path string, params url.Values, of func(map[string]any) any) any {
	s.t.Helper()
	got := s.get(account, path, params)
	require.Equal(s.t, http.StatusOK, got.status, "%s", got.body)
	var body map[string]any
	require.NoError(s.t, json.Unmarshal(got.body, &body))
	return of(body)
}

// Suspected sessions are counted until the account leaves their rule out, and then in no report and
// no list of people.
func TestSuspects(t *testing.T) {
	t.Parallel()
	a, other := newReadersAccount(t), newReadersAccount(t)
	at := time.Now().UTC().Add(-10 * time.Minute)
	a.read(a.link, at)
	mailed := a.suspect("delivery", "scanned@example.com", at.Add(-time.Minute))
	a.suspect("network", "cloud@example.com", at.Add(-time.Hour))
	a.suspect("network", "old@example.com", at.AddDate(0, 0, -40))
	other.read(other.link, at)
	other.suspect("delivery", "theirs@example.com", at)

	s, _ := serve(t, config(), enginetest.MigratedClickHouse(t), a.pool)
	var answer struct {
		Data []struct {
			Rule             string
			LeftOut          bool `json:"left_out"`
			Sessions, People int
			Without          map[string]any
			Examples         []map[string]any
		}
		All map[string]any
	}
	got, _ := s.ask(a.account, "/api/v1/analytics/suspects", nil)
	require.NoError(t, json.Unmarshal(got.body, &answer))
	counts := func(people float64) map[string]any {
		return map[string]any{"people": people, "sessions": people, "page_views": 2 * people, "reading_ms": 90_000 * people,
			"average_ms": 90_000.0, "link_views": 0.0}
	}
	require.Equal(t, counts(3), answer.All)
	require.Len(t, answer.Data, 4)
	network, delivery := answer.Data[0], answer.Data[1]
	require.Equal(t, "network", network.Rule)
	require.Equal(t, 1, network.Sessions, "of 30 days")
	require.Equal(t, 1, delivery.People)
	require.False(t, delivery.LeftOut)
	require.Equal(t, counts(2), delivery.Without)
	require.Len(t, delivery.Examples, 1)
	require.Equal(t, mailed.String(), delivery.Examples[0]["access_link_id"])
	require.Equal(t, "scanned@example.com", delivery.Examples[0]["email"])
	require.Equal(t, answer.All, answer.Data[3].Without)

	people := func(body map[string]any) any { return body["pagination"].(map[string]any)["total"] }
	rows := func(body map[string]any) any { return float64(len(body["data"].([]any))) }
	numbers := func(account uuid.UUID, magnet uuid.UUID) map[string]any {
		only := url.Values{"lead_magnet_id": {magnet.String()}}
		recent := url.Values{"lead_magnet_id": {magnet.String()}, "from": {at.AddDate(0, 0, -2).Format(time.RFC3339)}}
		return map[string]any{
			"readers": s.number(account, readersPath, recent, people),
			"calls":   s.number(account, "/api/v1/analytics/call-list", url.Values{"min_score": {"1"}}, rows),
			"now": s.number(account, "/api/v1/analytics/now", url.Values{"minutes": {"60"}},
				func(b map[string]any) any { return b["readers"] }),
			"pages": s.number(account, "/api/v1/analytics/pages", only, func(b map[string]any) any {
				return b["data"].([]any)[0].(map[string]any)["views"]
			}),
			"funnel": s.number(account, "/api/v1/analytics/funnel", recent, func(b map[string]any) any {
				return b["data"].([]any)[3].(map[string]any)["count"]
			}),
		}
	}
	require.Equal(t, map[string]any{"readers": 3.0, "calls": 3.0, "now": 2.0, "pages": 4.0, "funnel": 2.0},
		numbers(a.account, a.magnet))
	a.exec("UPDATE accounts SET left_out_suspects = '{delivery}' WHERE id = $1", a.account)
	require.Eventually(t, func() bool {
		return s.number(a.account, readersPath, url.Values{"from": {at.AddDate(0, 0, -2).Format(time.RFC3339)}}, people) == 2.0
	}, 30*time.Second, 50*time.Millisecond)
	require.Equal(t, map[string]any{"readers": 2.0, "calls": 2.0, "now": 1.0, "pages": 3.0, "funnel": 1.0},
		numbers(a.account, a.magnet))
	require.EqualValues(t, 2, numbers(other.account, other.magnet)["readers"], "another account's choice is its own")
	views := func(b map[string]any) any { return b["total_views"] }
	email := "/api/v1/analytics/email"
	require.EqualValues(t, 0, s.number(a.account, email, url.Values{"email": {"scanned@example.com"}}, views))
	require.EqualValues(t, 1, s.number(a.account, email, url.Values{"email": {"cloud@example.com"}}, views))
	require.EqualValues(t, 8, s.number(a.account, "/api/v1/analytics", nil, people), "the list has everything")
	got, _ = s.ask(a.account, "/api/v1/analytics/suspects", nil)
	require.NoError(t, json.Unmarshal(got.body, &answer))
	require.True(t, answer.Data[1].LeftOut)
	require.Equal(t, counts(3), answer.All, "the evidence stays")
}
