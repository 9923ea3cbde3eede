package query_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
	"lodestone/pkg/postgres"
	"lodestone/pkg/test/enginetest"
	"lodestone/query/querytest"
)

// reporting is a service, and an account with one access link that the API created, and its events.
type reporting struct {
	site
	t                     *testing.T
	pool                  *postgres.Pool
	account, magnet, link uuid.UUID
	stored                int64
}

func newReporting(t *testing.T) *reporting {
	t.Helper()
	pool := enginetest.SharedPostgres(t)
	s, _ := serve(t, config(), enginetest.MigratedClickHouse(t), pool)
	r := &reporting{site: s, t: t, pool: pool, account: querytest.ID(t), magnet: querytest.ID(t), link: querytest.ID(t)}
	for _, statement := range []struct {
		sql  string
		args []any
	}{
		{"INSERT INTO accounts (id, name, plan) VALUES ($1, 'test', 'team')", []any{r.account}},
		{"INSERT INTO lead_magnets (id, account_id, title) VALUES ($1, $2, 'test')", []any{r.magnet, r.account}},
		{
			"INSERT INTO access_links (id, account_id, lead_magnet_id, email, email_key, token_hash, token_sealed, token_key) VALUES ($1, $2, $3, 'ann@example.com', 'ann@example.com', sha256($4::text::bytea), '', 0)",
			[]any{r.link, r.account, r.magnet, r.link.String()},
		},
	} {
		_, err := pool.Unscoped().Exec(context.Background(), statement.sql, statement.args...)
		require.NoError(t, err)
	}
	require.NoError(t, querytest.Conn(t).Exec(context.Background(),
		"INSERT INTO lodestone.access_links (id, account_id, lead_magnet_id, source, version) VALUES (?, ?, ?, 'api', 1)",
		r.link, r.account, r.magnet))
	return r
}

// view stores a page view.
func (r *reporting) view(at time.Time, page uint32) {
	r.t.Helper()
	querytest.Store(r.t, querytest.Conn(r.t), querytest.StoredEvent{Event: event.Event{
		AccountID: r.account, LeadMagnetID: r.magnet, AccessLinkID: r.link, SessionID: r.link, EventID: querytest.ID(r.t),
		Type: event.PageViewed, MagnetVersion: 1,
		Page: page, DurationMS: 2000, CreatedAt: at.UnixMilli(), ReceivedAt: at.UnixMilli(),
	}, TopicID: r.account, Offset: r.stored})
	r.stored++
}

// ask returns the answer as an object, without its time, and its tag.
func (r *reporting) ask(authorization, path string) (body map[string]any, tag string) {
	r.t.Helper()
	got := r.do(http.MethodGet, authorization, "/api/v1/analytics/"+path)
	require.Equal(r.t, http.StatusOK, got.status, "%s", got.body)
	require.NoError(r.t, json.Unmarshal(got.body, &body))
	delete(body, "as_of")
	tag = got.header.Get("ETag")
	require.Regexp(r.t, `^W/"[0-9a-f]{16}"$`, tag)
	return body, tag
}

func (r *reporting) key(scopes string) string { return "Bearer " + scopes + ":" + r.account.String() }

// refused asserts that each query is answered with 400, and names the parameter it is listed under.
func (r *reporting) refused(path string, queries map[string]url.Values) {
	r.t.Helper()
	for field, params := range queries {
		got := r.get(r.account, "/api/v1/analytics/"+path, params)
		require.Equal(r.t, http.StatusBadRequest, got.status, "%s %s", field, got.body)
		code, fields := got.problem(r.t)
		require.Equal(r.t, "invalid_parameter", code)
		require.Equal(r.t, []string{field}, fields)
	}
}

// again returns the status of the answer to who has the one with a tag.
func (r *reporting) again(path, tag string) int {
	r.t.Helper()
	return r.send(http.MethodGet, path, tag, "").status
}

func (r *reporting) send(method, path, tag, body string) answer {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.t.Context(), method,
		r.url+"/api/v1/analytics/"+path, strings.NewReader(body))
	require.NoError(r.t, err)
	request.Header.Set("Authorization", r.key("read"))
	request.Header.Set("If-None-Match", tag)
	request.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(request)
	require.NoError(r.t, err)
	text, err := io.ReadAll(res.Body)
	require.NoError(r.t, err)
	require.NoError(r.t, res.Body.Close())
	return answer{res.StatusCode, res.Header, text}
}

// notSentAgain asserts that who has the answer with a tag gets 304, and after a change another
// answer.
func (r *reporting) notSentAgain(path, tag string, change func()) {
	r.t.Helper()
	require.Equal(r.t, http.StatusNotModified, r.again(path, tag))
	change()
	require.Equal(r.t, http.StatusOK, r.again(path, tag))
}

func TestFunnelReport(t *testing.T) {
	t.Parallel()
	r := newReporting(t)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	r.view(at, 1)
	body, tag := r.ask(r.key("read"), "funnel")
	step := func(name string, count int) any {
		return map[string]any{"step": name, "count": float64(count), "from_form": 0.0, "rate": nil,
			"total_rate": nil, "median_seconds": nil}
	}
	require.Equal(t, map[string]any{"excluded_bots": 0.0, "data": []any{
		step("link_view", 0), step("submission", 0), step("verified", 0), step("opened", 1),
		step("finished", 0), step("downloaded", 0),
	}}, body)
	r.notSentAgain("funnel", tag, func() {
		require.NoError(t, querytest.Conn(t).Exec(context.Background(),
			"INSERT INTO lodestone.magnet_versions VALUES (?, ?, 1, 1, 1)", r.account, r.magnet))
	})
	opened := func(query string) float64 {
		body, _ := r.ask(r.key("read"), "funnel?"+query)
		return body["data"].([]any)[3].(map[string]any)["count"].(float64)
	}
	require.InDelta(t, 1, opened("lead_magnet_id="+r.magnet.String()), 0)
	for _, query := range []string{
		"lead_magnet_id=" + r.link.String(), "generic_link_id=" + r.link.String(), "utm_source=x", "utm_medium=x",
		"utm_campaign=x", "utm_content=x", "utm_term=it%27s",
		"from=2026-03-01T12:00:01Z", "to=2026-03-01T12:00:00Z",
	} {
		require.Zero(t, opened(query), query)
	}
	require.InDelta(t, 1, opened("from=2026-03-01T12:00:00Z&to=2026-03-02"), 0)
	r.refused("funnel", map[string]url.Values{
		"lead_magnet_id": {"lead_magnet_id": {"x"}}, "utm_source": {"utm_source": {""}}, "utm_id": {"utm_id": {"1"}},
		"from": {"from": {"2026-03-02T00:00:01Z"}, "to": {"2026-03-02T00:00:00Z"}}, "to": {"to": {"yesterday"}},
	})
}

func TestRetentionReport(t *testing.T) {
	t.Parallel()
	r := newReporting(t)
	// Monday, Berlin's first one in summer, began an hour earlier.
	r.view(time.Date(2026, 3, 29, 21, 59, 0, 0, time.UTC), 1)
	r.view(time.Date(2026, 3, 29, 22, 0, 0, 0, time.UTC), 1)
	path := "retention?lead_magnet_id=" + r.magnet.String() + "&timezone=Europe%2FBerlin"
	body, tag := r.ask(r.key("read"), path)
	require.Zero(t, body["excluded_bots"])
	require.Len(t, body["data"], 1)
	cohort := body["data"].([]any)[0].(map[string]any)
	returned := cohort["returned"].([]any)
	delete(cohort, "returned")
	require.Equal(t, map[string]any{"cohort": "2026-03-23T00:00:00+01:00", "size": 1.0}, cohort)
	require.Equal(t, map[string]any{"after": 1.0, "time": "2026-03-30T00:00:00+02:00", "readers": 1.0, "rate": 1.0},
		returned[0])
	require.Equal(t, map[string]any{"after": 2.0, "time": "2026-04-06T00:00:00+02:00", "readers": 0.0, "rate": 0.0},
		returned[1])
	last := returned[len(returned)-1].(map[string]any)
	require.Equal(t, true, last["partial"], "this week is not over")
	r.notSentAgain(path, tag, func() { r.view(time.Date(2026, 4, 7, 0, 0, 0, 0, time.UTC), 1) })

	body, _ = r.ask(r.key("read"), path+"&by=month&from=2026-04-01")
	require.Empty(t, body["data"])
	body, _ = r.ask(r.key("read"), "retention?lead_magnet_id="+r.link.String())
	require.Equal(t, []any{}, body["data"])
	body, _ = r.ask("Bearer read:"+querytest.ID(t).String(), path)
	require.Equal(t, []any{}, body["data"], "another account sees nothing")
	magnet := r.magnet.String()
	r.refused("retention", map[string]url.Values{
		"lead_magnet_id": {}, "by": {"lead_magnet_id": {magnet}, "by": {"hour"}}, "timezone": {"lead_magnet_id": {magnet},
			"timezone": {"posix/Europe/Berlin"}},
		"from": {"lead_magnet_id": {magnet}, "from": {"2026-03-02"}, "to": {"2026-03-02"}},
		"to":   {"lead_magnet_id": {magnet}, "to": {"yesterday"}},
	})
}

func TestRetentionOfTooManyIntervals(t *testing.T) {
	t.Parallel()
	r := newReporting(t)
	r.view(time.Date(2012, 3, 1, 0, 0, 0, 0, time.UTC), 1)
	r.refused("retention", map[string]url.Values{"from": {"lead_magnet_id": {r.magnet.String()}, "by": {"day"}}})
}

func TestNowReport(t *testing.T) {
	t.Parallel()
	r := newReporting(t)
	now := time.Now().UTC().Truncate(time.Millisecond)
	r.view(now.Add(-30*time.Minute), 1)
	body, _ := r.ask(r.key("read,leads"), "now")
	require.Equal(t, map[string]any{"data": []any{}, "readers": 0.0, "excluded_bots": 0.0, "labels": map[string]any{}},
		body)
	r.view(now, 3)
	body, tag := r.ask(r.key("read"), "now")
	format := func(at time.Time) string { return at.Format("2006-01-02T15:04:05.000Z") }
	reader := map[string]any{
		"access_link_id": r.link.String(), "lead_magnet_id": r.magnet.String(), "magnet_version": 1.0, "page": 3.0,
		"since": format(now.Add(-30 * time.Minute)), "last_seen_at": format(now), "email": nil, "name": nil,
	}
	require.Equal(t, map[string]any{
		"data": []any{reader}, "readers": 1.0, "excluded_bots": 0.0, "labels": map[string]any{r.magnet.String(): "test"},
	}, body, "addresses are not for every key")
	body, _ = r.ask(r.key("read,leads"), "now?minutes=60")
	reader["email"] = "ann@example.com"
	require.Equal(t, []any{reader}, body["data"])
	r.notSentAgain("now", tag, func() { r.view(now.Add(time.Second), 4) })
	body, _ = r.ask("Bearer read:"+querytest.ID(t).String(), "now")
	require.Empty(t, body["data"], "another account sees nothing")
	r.refused("now", map[string]url.Values{"minutes": {"minutes": {"61"}},
		"lead_magnet_id": {"lead_magnet_id": {r.magnet.String()}}})
}

func TestQuestionSchema(t *testing.T) {
	t.Parallel()
	r := newReporting(t)
	body, tag := r.ask(r.key("read"), "schema")
	byName := map[string]map[string]any{}
	for _, list := range []string{"metrics", "dimensions"} {
		for _, one := range body[list].([]any) {
			byName[one.(map[string]any)["name"].(string)] = one.(map[string]any)
		}
	}
	require.Equal(t, []any{"hour", "day", "week", "month"}, body["intervals"])
	require.Equal(t, map[string]any{"queries": 20.0, "metrics": 20.0, "dimensions": 2.0, "values": 1000.0, "limit": 1000.0,
		"intervals": 2000.0, "rows": 20000.0}, body["limits"])
	for name, kind := range map[string]string{"link_views": "sum", "visitors": "distinct", "attentive": "distinct",
		"open_rate": "rate", "p90_page_ms": "quantile"} {
		require.Equal(t, kind, byName[name]["kind"], name)
	}
	require.Equal(t, "ms", byName["reading_ms"]["unit"])
	require.Nil(t, byName["finish_rate"]["unit"])
	require.Equal(t, true, byName["finish_rate"]["nullable"])
	require.Contains(t, byName["finish_rate"]["dimensions"], "utm_source")
	require.NotContains(t, byName["finish_rate"]["dimensions"], "page")

	require.Equal(t, []any{"page_viewed", "download_started", "download_completed"}, byName["event_type"]["values"])
	require.Contains(t, byName["device"]["values"], "tablet")
	require.Equal(t, "include_bots", byName["bot"]["requires"])
	weekday := byName["weekday"]
	require.Equal(t, []any{"number", 1.0, 7.0, []any{}}, []any{weekday["type"], weekday["minimum"],
		weekday["maximum"], weekday["values"]})
	require.Equal(t, true, byName["utm_source"]["nullable"])
	require.Equal(t, []any{"events"}, byName["event_type"]["metrics"])

	// Every dimension is a filter, with a list of values.
	for _, d := range body["dimensions"].([]any) {
		name := d.(map[string]any)["name"].(string)
		text, err := json.Marshal(map[string]any{"metrics": []any{d.(map[string]any)["metrics"].([]any)[0]},
			"include_bots": true, "filters": map[string]any{name: []any{}}})
		require.NoError(t, err)
		got := r.send(http.MethodPost, "query", "", string(text))
		require.Equal(t, http.StatusUnprocessableEntity, got.status)
		_, fields := got.problem(t)
		require.Equal(t, []string{"filters." + name}, fields, "%s", got.body)
	}
	require.Equal(t, http.StatusNotModified, r.again("schema", tag))
}
