package engine_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/engine"
	"lodestone/pkg/engine/child"
	"lodestone/pkg/test/enginetest"
)

// background asks something whose answer is not waited for, and returns a channel with the answer.
func background(t *testing.T, address, sql string) <-chan string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(sql))
	require.NoError(t, err)
	answer, done := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(done)
		response, err := client.Do(request)
		if err != nil {
			return // the test's end, or the server's
		}
		text, err := io.ReadAll(response.Body)
		if err == nil && response.Body.Close() == nil {
			answer <- strings.TrimSpace(string(text))
		}
	}()
	t.Cleanup(func() { <-done })
	return answer
}

// stuck is a statement that takes minutes.
const stuck = "SELECT count() FROM numbers(900000000) WHERE NOT ignore(SHA512(toString(number)))"

func TestStuckQueriesOfSQLUsersAreRepaired(t *testing.T) {
	t.Parallel()
	server, events := observedClickHouse(t)
	must(t, server.HTTPURL(), "CREATE DATABASE analytics")
	own := server.HTTPURL()
	must(t, own, "CREATE OR REPLACE WORKLOAD analyst IN all SETTINGS max_concurrent_queries = 100, max_concurrent_threads = 1")
	background(t, server.SQLURL()+"&max_execution_time=120", stuck)
	eventually(t, func() bool {
		return must(t, own, "SELECT count() FROM system.processes WHERE Settings['workload'] = 'analyst' AND read_rows > 0") == "1"
	}, "the statement has its thread, and not only its place in the list")
	second := background(t, server.SQLURL(), "SELECT 'after all'")
	eventually(t, func() bool {
		return must(t, own, "SELECT queue_length FROM system.scheduler WHERE type = 'fifo' AND resource = 'cpu'") == "1"
	}, "another waits for its thread")

	require.NoError(t, server.RepairSQL(context.Background(), 1))
	require.Equal(t, "1", must(t, own, "SELECT queue_length FROM system.scheduler WHERE type = 'fifo' AND resource = 'cpu'"), "a query that is within its time keeps the others waiting")
	server.SetOverdue(0)
	require.NoError(t, server.RepairSQL(context.Background(), 1))
	require.Equal(t, "after all", <-second)
	require.Equal(t, "1", must(t, own, "SELECT count() FROM system.workloads WHERE name = 'analyst' AND create_query LIKE '%max_concurrent_threads%'"), "the limits are back")

	before := server.PID()
	require.NoError(t, server.RepairSQL(context.Background(), 2))
	for e := range events {
		if e.Kind == child.Restarted {
			require.NotEqual(t, before, e.PID)
			break
		}
	}
	require.Equal(t, "1", must(t, server.SQLURL(), "SELECT 1"))
}

// The limits of SQL users may stay lifted: putting them back can fail, and the process can end
// before.
func TestLiftedLimitsOfSQLUsersAreSetAgain(t *testing.T) {
	t.Parallel()
	server, _ := observedClickHouse(t)
	create := "SELECT create_query FROM system.workloads WHERE name = 'analyst'"
	want := must(t, server.HTTPURL(), create)
	for _, statement := range clickhouse.Workload(1000, 1000) {
		must(t, server.HTTPURL(), statement)
	}
	require.NoError(t, server.Probe(t.Context()))
	require.Equal(t, want, must(t, server.HTTPURL(), create))
}

// ClickHouse can close one port and answer on the other.
func TestClickHouseIsRestartedWhenAPortStopsAnswering(t *testing.T) {
	t.Parallel()
	for _, port := range []string{"TCP", "HTTP"} {
		t.Run(port, func(t *testing.T) {
			t.Parallel()
			server, events := observedClickHouse(t, func(s *engine.ClickHouse) { s.SetHangAfter(time.Second) })
			if res, err := client.Post(server.HTTPURL(), "text/plain", strings.NewReader("SYSTEM STOP LISTEN "+port)); err == nil {
				_ = res.Body.Close() // it may have closed its own connection
			}
			for e := range events {
				if e.Kind == child.Restarted {
					break
				}
			}
			require.Equal(t, "1", must(t, server.HTTPURL(), "SELECT 1"))
		})
	}
}

func TestRecursiveExpressionsAreRefused(t *testing.T) {
	t.Parallel()
	server := enginetest.Server(t)
	for _, address := range []string{server.HTTPURL(), strings.TrimSuffix(server.SQLURL(), "?database=analytics")} {
		status, answer := query(t, address, "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 3) SELECT * FROM t")
		require.Equal(t, http.StatusBadRequest, status, answer)
		require.Contains(t, answer, "SYNTAX_ERROR")
	}
	require.Equal(t, "1", must(t, server.HTTPURL(), "WITH recursive AS (SELECT 1 AS n) SELECT n FROM recursive"))
}
