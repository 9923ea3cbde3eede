package query_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/ratelimit"
	"lodestone/pkg/test/enginetest"
	"lodestone/query/querytest"
)

// question asks a question of metrics.
func (s site) question(account uuid.UUID, body string) answer {
	s.t.Helper()
	return s.questionBy("read:"+account.String(), body)
}

func (s site) questionBy(key, body string) answer {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost,
		s.url+"/api/v1/analytics/query", strings.NewReader(body))
	require.NoError(s.t, err)
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	got, err := http.DefaultClient.Do(r)
	require.NoError(s.t, err)
	text, err := io.ReadAll(got.Body)
	require.NoError(s.t, err)
	require.NoError(s.t, got.Body.Close())
	return answer{got.StatusCode, got.Header, text}
}

// Who has used up the processor time of a minute waits until it is over; others do not.
func TestReportsHaveABudgetOfProcessorTime(t *testing.T) {
	t.Parallel()
	pool := enginetest.SharedPostgres(t)
	c := config()
	c.ProcessorSeconds = 1
	s, _ := serve(t, c, enginetest.MigratedClickHouse(t), pool)
	conn, budget, other := querytest.Conn(t), ratelimit.NewBudget(pool, ratelimit.ProcessorRule(1)), querytest.ID(t)
	const body = `{"metrics":["readers","median_page_ms"],"from":"2025-10-01","to":"2025-10-08","interval":"day"}`
	var account uuid.UUID
	var got answer
	// What is counted late is not waited for, and a minute may end at any time: then another account
	// tries.
	require.Eventually(t, func() bool {
		account = querytest.ID(t)
		querytest.Fill(t, conn, account, 1000, 20_000)
		if budget.Charge(t.Context(), account, 999) != nil || s.question(account, body).status != 200 {
			return false
		}
		got = s.question(account, body)
		return got.status == 429
	}, enginetest.Timeout, time.Millisecond, "a millisecond is left, which the first question takes")
	seconds, err := strconv.Atoi(got.header.Get("Retry-After"))
	require.NoError(t, err)
	require.Positive(t, seconds)
	require.LessOrEqual(t, seconds, 60)
	require.Eventually(t, func() bool {
		account := querytest.ID(t)
		return budget.Charge(t.Context(), account, 1000) == nil &&
			s.get(account, "/api/v1/analytics/pages", values("lead_magnet_id", querytest.ID(t).String())).status == 429
	}, enginetest.Timeout, time.Millisecond, "it is one budget for all reports")
	require.Equal(t, 200, s.get(account, "/api/v1/analytics", nil).status, "lists are none")
	require.Equal(t, 200, s.question(other, body).status)
}

// A report that takes more memory than one may is refused with how to ask for less, in the same way
// everywhere.
func TestReportsThatTakeTooMuchMemory(t *testing.T) {
	t.Parallel()
	c := config()
	c.MaxMemoryBytes = 16 << 20
	s, _ := serve(t, c, enginetest.MigratedClickHouse(t), enginetest.SharedPostgres(t))
	account, conn := querytest.ID(t), querytest.Conn(t)
	filled := querytest.Fill(t, conn, account, 5000, 150_000)
	ctx := native.Context(t.Context(),
		native.WithSettings(native.Settings{"max_block_size": 65_536, "min_insert_block_size_rows": 65_536}),
		native.WithParameters(native.Parameters{"account": account.String(), "magnet": filled.Magnets[0].String(),
			"link": filled.Links[0].String()}))
	// As much is of one document, by as many access links, and by one; and it was just read.
	const id = "reinterpret(sipHash128({account:UUID}, number), 'UUID')"
	for _, link := range []string{id, "{link:UUID}"} {
		require.NoError(t, conn.Exec(ctx, `INSERT INTO lodestone.events (account_id, lead_magnet_id, access_link_id, session_id, event_id, event_type, magnet_version, page, duration_ms, created_at, received_at)
			SELECT {account:UUID}, {magnet:UUID}, `+link+`, generateUUIDv4(1), generateUUIDv4(2), 'page_viewed', 1, number % 100 + 1, 1000 + number, now64(3), now64(3) + 60
			FROM numbers(150000)`))
	}
	require.NoError(t, conn.Exec(ctx, "INSERT INTO lodestone.access_links (id, account_id, source, version) SELECT "+id+
		", {account:UUID}, 'api', 1 FROM numbers(150000)"))
	magnet := "?lead_magnet_id=" + filled.Magnets[0].String()
	for path, less := range map[string]string{
		"pages" + magnet: "ask for less time", "funnel": "one lead magnet", "retention" + magnet: "ask for later readers",
		"now":     "ask for fewer minutes",
		"readers": "ask for less time", "readers/" + filled.Links[0].String(): "", "readers/export": "ask for less time",
	} {
		r := s.do(http.MethodGet, "Bearer read,leads:"+account.String(), "/api/v1/analytics/"+path)
		require.Equal(t, 422, r.status, "%s %s", path, r.body)
		require.Contains(t, string(r.body), less)
		code, fields := r.problem(t)
		require.Equal(t, "validation_error", code)
		require.Len(t, fields, 1)
	}
	r := s.question(account,
		`{"metrics":["readers","sessions"],"from":"2025-10-01","to":"2025-10-08","interval":"hour","dimensions":["access_link_id"],"limit":1}`)
	require.Equal(t, 422, r.status)
	var problem struct {
		Errors []struct{ Field, Message string } `json:"errors"`
	}
	require.NoError(t, json.Unmarshal(r.body, &problem))
	require.Len(t, problem.Errors, 1)
	require.Contains(t, problem.Errors[0].Message, "ask for less time")
}
