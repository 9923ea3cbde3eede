package query_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/test/enginetest"
	"lodestone/query"
	"lodestone/query/querytest"
	"lodestone/query/scope"
)

// A client that leaves takes its statement along: ClickHouse goes on with none that no one waits
// for.
func TestAReportThatItsClientLeftEndsInClickHouse(t *testing.T) {
	t.Parallel()
	server := enginetest.NewMigratedClickHouse(t, t.TempDir())
	enginetest.Run(t, server)
	ch := clickhouse.Config{URL: server.URL()}
	_, err := clickhouse.Migrate(t.Context(), ch)
	require.NoError(t, err)
	conn, account := enginetest.Open(t, ch), querytest.ID(t)
	querytest.Fill(t, conn, account, 1, 10)
	for _, statement := range []string{ // reports of the days of these events never end on this server
		"RENAME TABLE lodestone.events TO lodestone.stored",
		"CREATE VIEW lodestone.events AS SELECT s.* FROM system.numbers AS n CROSS JOIN lodestone.stored AS s",
	} {
		require.NoError(t, conn.Exec(t.Context(), statement))
	}
	c := config()
	c.Timeout = enginetest.Timeout // a statement does not end by its time while the test waits for it
	s, _ := serveWith(t, c, query.Deps{
		Copies: scope.One(ch), ClickHouseHTTP: server.HTTPURL(), Log: querytest.Log(), Registerer: prometheus.NewRegistry(),
		Postgres: enginetest.SharedPostgres(t),
	})
	running := func() (n uint64) {
		const sql = "SELECT count() FROM system.processes WHERE Settings['log_comment'] LIKE 'lodestone query: %'"
		require.NoError(t, conn.QueryRow(t.Context(), sql).Scan(&n))
		return n
	}
	for _, report := range []struct{ method, path, body string }{
		{http.MethodGet, "/api/v1/analytics", ""},
		{http.MethodGet, "/api/v1/analytics/export?format=csv", ""},
		{http.MethodPost, "/api/v1/analytics/query", `{"metrics":["events"],"from":"2025-10-01","to":"2025-10-02"}`},
	} {
		ctx, leave := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, report.method, s.url+report.path, strings.NewReader(report.body))
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer read,leads:"+account.String())
		r.Header.Set("Content-Type", "application/json")
		left := make(chan error)
		go func() {
			answer, err := http.DefaultClient.Do(r)
			if err == nil {
				if answer.StatusCode != http.StatusOK {
					text, _ := io.ReadAll(answer.Body)
					t.Errorf("%s was answered with %d: %s", report.path, answer.StatusCode, text)
				}
				<-ctx.Done() // an export is answered while it runs
				err = answer.Body.Close()
			}
			left <- err
		}()
		require.Eventually(t, func() bool { return running() > 0 }, enginetest.Timeout, 20*time.Millisecond, report.path)
		leave()
		<-left
		require.Eventually(t, func() bool { return running() == 0 }, enginetest.Timeout/2, 20*time.Millisecond, report.path)
	}
}
