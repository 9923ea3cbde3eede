package report_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/test/enginetest"
	"lodestone/query/querytest"
	"lodestone/query/report"
)

// inSQL are questions of all time, and how an SQL user asks the same. ACCOUNT stands for the
// account. The columns are those of the dimensions, then those of the metrics.
var inSQL = []struct {
	metrics, dimensions string
	sql                 string
}{
	{"link_views visitors", "",
		`SELECT count(), uniqExact(ip_hash) + countIf(ip_hash IS NULL) FROM link_views WHERE account_id = ACCOUNT AND bot = ''`},
	{"link_views", "utm_source device",
		`SELECT nullIf(utm_source, ''), device, count() FROM link_views WHERE account_id = ACCOUNT AND bot = '' GROUP BY ALL`},
	{"link_views", "referrer_host",
		`SELECT nullIf(referrer_host, ''), count() FROM link_views WHERE account_id = ACCOUNT AND bot = '' GROUP BY ALL`},
	{"link_views visitors", "page_url", `SELECT if(domain(url) = '', NULL, lower(domain(url)) || path(url)), count(), uniqExact(ip_hash) + countIf(ip_hash IS NULL)
		FROM link_views WHERE account_id = ACCOUNT AND bot = '' GROUP BY ALL`},
	{"submissions open_rate", "",
		`SELECT count(), if(count() = 0, NULL, countIf(state = 'viewed') / count()) FROM submissions WHERE account_id = ACCOUNT`},
	{"submissions open_rate", "utm_source utm_campaign", `SELECT nullIf(utm_source, ''), nullIf(utm_campaign, ''), count(), countIf(state = 'viewed') / count()
		FROM submissions WHERE account_id = ACCOUNT GROUP BY ALL`},
	{"verified", "referrer_host",
		`SELECT nullIf(referrer_host, ''), count() FROM submissions WHERE account_id = ACCOUNT AND confirmed_at IS NOT NULL GROUP BY ALL`},
	{"submissions", "email_domain lead_magnet_id",
		`SELECT email_domain, lead_magnet_id, count() FROM submissions WHERE account_id = ACCOUNT GROUP BY ALL`},
	{"readers people sessions page_views reading_ms finished attentive finish_rate", "", `
		SELECT uniqExact(access_link_id), uniqExact(coalesce(person_id, access_link_id)), sum(sessions) - repeated, sum(page_views), sum(reading_ms),
			uniqExactIf(access_link_id, finished), uniqExactIf(access_link_id, attentive),
			if(count() = 0, NULL, uniqExactIf(access_link_id, finished) / uniqExact(access_link_id))
		FROM readers CROSS JOIN (
			-- Links of the generated events are of several documents, and so are their sessions.
			SELECT sum(n - 1) AS repeated FROM (
				SELECT uniqExact(lead_magnet_id) AS n FROM events WHERE account_id = ACCOUNT AND bot = '' AND event_type = 'page_viewed'
				GROUP BY access_link_id, coalesce(session_id, event_id))) AS r
		WHERE account_id = ACCOUNT GROUP BY repeated`},
	{"readers finished attentive page_views", "utm_source utm_campaign", `
		SELECT nullIf(utm_source, ''), nullIf(utm_campaign, ''), uniqExact(access_link_id), uniqExactIf(access_link_id, finished),
			uniqExactIf(access_link_id, attentive), sum(page_views)
		FROM readers WHERE account_id = ACCOUNT GROUP BY ALL`},
	{"readers finished attentive people", "lead_magnet_id referrer_host", `
		SELECT lead_magnet_id, nullIf(referrer_host, ''), count(), countIf(finished), countIf(attentive), uniqExact(coalesce(person_id, access_link_id))
		FROM readers WHERE account_id = ACCOUNT GROUP BY ALL`},
	{"people people_finished people_without_form people_finish_rate", "lead_magnet_id", `
		SELECT lead_magnet_id, count(), countIf(done), countIf(NOT formed), avg(done) FROM (
			SELECT r.lead_magnet_id AS lead_magnet_id, max(r.finished) AS done, max(l.source != 'api') AS formed
			FROM readers AS r LEFT JOIN access_links AS l ON l.account_id = r.account_id AND l.access_link_id = r.access_link_id
			WHERE r.account_id = ACCOUNT GROUP BY lead_magnet_id, coalesce(r.person_id, r.access_link_id))
		GROUP BY lead_magnet_id`},
	{"people_downloaded", "lead_magnet_id", `
		SELECT lead_magnet_id, countIf(read AND saved) AS n FROM (
			SELECT e.lead_magnet_id AS lead_magnet_id, max(e.event_type = 'page_viewed') AS read, max(e.event_type = 'download_completed') AS saved
			FROM events AS e LEFT JOIN access_links AS l ON l.account_id = e.account_id AND l.access_link_id = e.access_link_id
			WHERE e.account_id = ACCOUNT AND e.bot = '' GROUP BY lead_magnet_id, coalesce(l.person_id, e.access_link_id))
		GROUP BY lead_magnet_id HAVING n > 0`},
	{"confirmations", "lead_magnet_id",
		`SELECT lead_magnet_id, count() FROM submissions WHERE account_id = ACCOUNT AND verified_at IS NOT NULL GROUP BY ALL`},
	{"readers reading_ms sessions", "access_link_id lead_magnet_id", `
		SELECT access_link_id, lead_magnet_id, 1, reading_ms, sessions FROM readers WHERE account_id = ACCOUNT`},
	{"readers page_views", "email_domain",
		`SELECT email_domain, uniqExact(access_link_id), sum(page_views) FROM readers WHERE account_id = ACCOUNT GROUP BY ALL`},
	{"events downloads_started downloads", "device", `
		SELECT device, count(), countIf(event_type = 'download_started'), countIf(event_type = 'download_completed')
		FROM events WHERE account_id = ACCOUNT AND bot = '' GROUP BY ALL`},
	{"median_page_ms p90_page_ms", "", `
		SELECT round(quantileExactInclusive(0.5)(lodestonePageTime(duration_ms)), 3), round(quantileExactInclusive(0.9)(lodestonePageTime(duration_ms)), 3)
		FROM events WHERE account_id = ACCOUNT AND bot = '' AND event_type = 'page_viewed' AND duration_ms > 0`},
}

// An SQL user gets the numbers that the API answers with, for the same questions of the same
// events.
func TestSQLSaysTheSame(t *testing.T) {
	t.Parallel()
	reporter := report.New(querytest.Scoped(t))
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			m := newModel(t, rand.New(rand.NewPCG(seed, 23)), time.UTC, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), 20)
			m.nameReaders()
			for _, ask := range inSQL {
				q := report.Question{Metrics: strings.Fields(ask.metrics), Dimensions: strings.Fields(ask.dimensions),
					From: "2026-01-01", To: "2026-08-01", Limit: 1000}
				answers, err := reporter.Answer(t.Context(), m.account, []report.Question{q}, []string{""})
				require.NoError(t, err)
				require.Equal(t, answerTexts(answers[0]), m.sqlTexts(ask.sql, len(q.Dimensions)), "%s by %s",
					ask.metrics, ask.dimensions)
			}
			for _, magnet := range m.magnets {
				for version := range 4 {
					got, err := reporter.Pages(t.Context(), m.account,
						report.PagesQuestion{LeadMagnetID: magnet, Version: new(version)})
					require.NoError(t, err)
					var want []string
					if len(got.Pages) > 0 && got.Pages[0].Reached == 0 {
						got.Pages = nil // SQL has the versions that people read
					}
					for _, p := range got.Pages {
						want = append(want, texts([]any{int64(p.Number)}, []*float64{
							new(float64(p.Views)), new(float64(p.Readers)), new(float64(p.Reached)), new(float64(p.Stopped)),
							new(float64(p.Reread)), p.Median, p.P90,
						}))
					}
					slices.Sort(want)
					require.Equal(t, want, m.sqlTexts(fmt.Sprintf(`SELECT page, views, readers, reached, stopped, reread, median_ms, p90_ms FROM pages
						WHERE account_id = ACCOUNT AND lead_magnet_id = '%s' AND magnet_version = %d`, magnet, version), 1))
				}
			}
		})
	}
}

// nameReaders copies addresses, as --sql-emails does.
func (m *model) nameReaders() {
	m.t.Helper()
	for _, copied := range []struct{ table, columns string }{
		{"access_links", "id, account_id, lead_magnet_id, generic_link_id, submission_id, source, email_domain, person_id, utm_source, utm_campaign, referrer"},
		{"submissions", "id, account_id, lead_magnet_id, generic_link_id, email_domain, person_id, verification_required, verified, utm_source, utm_campaign, referrer, submitted_at, verified_at"},
	} {
		m.exec("INSERT INTO lodestone."+copied.table+" ("+copied.columns+", email, version) SELECT "+copied.columns+
			", concat('a@', email_domain), 3 FROM lodestone."+copied.table+
			" FINAL WHERE account_id = ?", m.account)
	}
}

// sqlTexts returns the rows of an answer to the SQL user as texts, in order.
func (m *model) sqlTexts(sql string, dimensions int) (list []string) {
	m.t.Helper()
	sql = strings.ReplaceAll(sql, "ACCOUNT", "'"+m.account.String()+"'") + " FORMAT JSONCompactEachRow"
	r, err := http.NewRequestWithContext(m.t.Context(), http.MethodPost, enginetest.Server(m.t).SQLURL()+
		"&output_format_json_quote_64bit_integers=0", strings.NewReader(sql))
	require.NoError(m.t, err)
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	require.NoError(m.t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(m.t, err)
	require.NoError(m.t, resp.Body.Close())
	require.Equal(m.t, http.StatusOK, resp.StatusCode, "%s: %s", sql, body)
	for line := range strings.Lines(string(body)) {
		var row []any
		require.NoError(m.t, json.Unmarshal([]byte(line), &row))
		numbers := make([]*float64, len(row)-dimensions)
		for i, value := range row[dimensions:] {
			if n, ok := value.(float64); ok {
				numbers[i] = &n
			}
		}
		for i, value := range row[:dimensions] {
			if n, ok := value.(float64); ok {
				row[i] = int64(n)
			}
		}
		list = append(list, texts(row[:dimensions], numbers))
	}
	slices.Sort(list)
	return list
}

// answerTexts returns the rows of an answer, or its totals if it is not divided.
func answerTexts(a report.Answer) (list []string) {
	if len(a.Dimensions) == 0 {
		return []string{texts(nil, a.Totals.Now)}
	}
	for _, row := range a.Rows {
		list = append(list, texts(row.Values, row.Numbers.Now))
	}
	slices.Sort(list)
	return list
}

func texts(values []any, numbers []*float64) string {
	shown := []string{fmt.Sprint(values...) + ":"}
	for _, n := range numbers {
		if n == nil {
			shown = append(shown, "null")
			continue
		}
		shown = append(shown, fmt.Sprintf("%.9g", *n))
	}
	return strings.Join(shown, " ")
}
