package query_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
	"lodestone/pkg/test/enginetest"
	"lodestone/query/querytest"
)

func TestPageReport(t *testing.T) {
	t.Parallel()
	s, _ := serve(t, config(), enginetest.MigratedClickHouse(t), enginetest.SharedPostgres(t))
	account, magnet, link := querytest.ID(t), querytest.ID(t), querytest.ID(t)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	topic := querytest.ID(t)
	store := func(offset int64, page uint32) {
		querytest.Store(t, querytest.Conn(t), querytest.StoredEvent{Event: event.Event{
			AccountID: account, LeadMagnetID: magnet, AccessLinkID: link, EventID: querytest.ID(t),
			Type: event.PageViewed, MagnetVersion: 3,
			Page: page, DurationMS: 1500, CreatedAt: at.UnixMilli(), ReceivedAt: at.UnixMilli(),
		}, TopicID: topic, Offset: offset})
	}
	store(0, 1)
	const path = "/api/v1/analytics/pages"
	ask := func(of uuid.UUID) (answer, map[string]any) {
		got := s.get(of, path, url.Values{"lead_magnet_id": {magnet.String()}})
		require.Equal(t, http.StatusOK, got.status, "%s", got.body)
		var body map[string]any
		require.NoError(t, json.Unmarshal(got.body, &body))
		return got, body
	}
	first, body := ask(account)
	require.NotEmpty(t, body["as_of"])
	delete(body, "as_of")
	require.Equal(t, map[string]any{
		"magnet_version": 3.0, "excluded_bots": 0.0, "data": []any{map[string]any{
			"page": 1.0, "reached": 1.0, "people_reached": 1.0, "stopped": 1.0, "people_stopped": 1.0, "views": 1.0,
			"readers": 1.0, "median_ms": 1500.0, "p90_ms": 1500.0, "reread": 0.0,
		}},
	}, body)
	_, theirs := ask(querytest.ID(t))
	require.Equal(t, []any{}, theirs["data"], "another account sees nothing")
	require.Nil(t, theirs["magnet_version"])

	// The tag is of the numbers, not of the time: who has them is not sent them again.
	tag := first.header.Get("ETag")
	require.Regexp(t, `^W/"[0-9a-f]{16}"$`, tag)
	again := func() (status int, newTag string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path+"?lead_magnet_id="+magnet.String(), nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer read:"+account.String())
		r.Header.Set("If-None-Match", tag)
		res, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		return res.StatusCode, res.Header.Get("ETag")
	}
	status, _ := again()
	require.Equal(t, http.StatusNotModified, status)
	store(1, 2)
	status, changed := again()
	require.Equal(t, http.StatusOK, status)
	require.NotEqual(t, tag, changed)

	for field, params := range map[string]url.Values{
		"lead_magnet_id": {},
		"magnet_version": {"lead_magnet_id": {magnet.String()}, "magnet_version": {"-1"}},
		"from": {"lead_magnet_id": {magnet.String()}, "from": {"2026-03-02T00:00:01Z"},
			"to": {"2026-03-02T00:00:00Z"}},
		"to":    {"lead_magnet_id": {magnet.String()}, "to": {"yesterday"}},
		"pages": {"lead_magnet_id": {magnet.String()}, "pages": {"1"}},
	} {
		got := s.get(account, path, params)
		require.Equal(t, http.StatusBadRequest, got.status, field)
		code, fields := got.problem(t)
		require.Equal(t, "invalid_parameter", code)
		require.Equal(t, []string{field}, fields)
	}
}

// The reports about pages and about returns are of the page views that their filters let through.
func TestReportsOfPageViewsAreFiltered(t *testing.T) {
	t.Parallel()
	a := newReadersAccount(t)
	s, _ := serve(t, config(), enginetest.MigratedClickHouse(t), a.pool)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	letter := querytest.ID(t)
	require.NoError(t, querytest.Conn(t).Exec(t.Context(), fmt.Sprintf(`INSERT INTO lodestone.access_links
		(id, account_id, lead_magnet_id, person_id, source, utm_source, utm_campaign, created_at, version)
		VALUES ('%s', '%s', '%s', '%s', 'mail', 'letter', 'spring', '2026-03-01 10:00:01', 1)`,
		letter, a.account, a.magnet, uuid.New())))
	a.store(a.link, event.PageViewed, 2, at, "")
	a.store(letter, event.PageViewed, 1, at, "")
	a.store(letter, event.PageViewed, 1, at.AddDate(0, 0, 14), "")
	type element struct {
		Stopped  float64 `json:"people_stopped"`
		Size     float64 `json:"size"`
		Returned []struct {
			Readers float64 `json:"readers"`
		} `json:"returned"`
	}
	ask := func(report, name, value string) []element {
		params := url.Values{"lead_magnet_id": {a.magnet.String()}, "from": {"2026-03-01T00:00:00Z"}}
		if name != "" {
			params[name] = strings.Split(value, ",")
		}
		got := s.get(a.account, "/api/v1/analytics/"+report, params)
		require.Equal(t, http.StatusOK, got.status, "%s", got.body)
		var body struct{ Data []element }
		require.NoError(t, json.Unmarshal(got.body, &body))
		return body.Data
	}
	stopped := func(name, value string) (pages []float64) {
		for _, page := range ask("pages", name, value) {
			pages = append(pages, page.Stopped)
		}
		return pages
	}
	// The readers of each cohort, and how many of them read two weeks later.
	returned := func(name, value string) (cohorts [][2]float64) {
		for _, c := range ask("retention", name, value) {
			cohorts = append(cohorts, [2]float64{c.Size, c.Returned[1].Readers})
		}
		return cohorts
	}
	both, back, once := [][2]float64{{2, 1}}, [][2]float64{{1, 1}}, [][2]float64{{1, 0}}
	require.Equal(t, both, returned("", ""))
	require.Equal(t, back, returned("utm_source", "letter"))
	require.Equal(t, back, returned("utm_campaign", "spring"))
	require.Equal(t, once, returned("without", "utm_source"))
	require.Equal(t, once, returned("without", "utm_campaign"))
	require.Equal(t, once, returned("without", "utm_source,utm_campaign"))
	require.Equal(t, both, returned("device", "mobile"))
	require.Equal(t, both, returned("generic_link_id", a.generic.String()))
	require.Equal(t, []float64{1, 1}, stopped("", ""))
	require.Equal(t, []float64{1, 0}, stopped("utm_source", "letter"))
	require.Equal(t, []float64{1, 0}, stopped("utm_campaign", "spring"))
	require.Equal(t, []float64{0, 1}, stopped("without", "utm_source"))
	require.Equal(t, []float64{0, 1}, stopped("without", "utm_campaign"))
	require.Equal(t, []float64{1, 1}, stopped("device", "mobile"))
	require.Equal(t, []float64{1, 1}, stopped("generic_link_id", a.generic.String()))
	for name, value := range map[string]string{"device": "desktop", "country": "DE", "utm_source": "let",
		"generic_link_id": letter.String()} {
		require.Empty(t, stopped(name, value), name)
		require.Empty(t, returned(name, value), name)
	}
}
