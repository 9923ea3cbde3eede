package engine_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/engine"
	"lodestone/pkg/engine/child"
	"lodestone/pkg/test/enginetest"
)

// ClickHouse can close one port and answer on the other.
func TestClickHouseIsRestartedWhenAPortStopsAnswering(t *testing.T) {
	t.Parallel()
	for _, port := range []string{"TCP", "HTTP"} {
		t.Run(port, func(t *testing.T) {
			t.Parallel()
			server, events := observedClickHouse(t, func(s *engine.ClickHouse) { s.SetHangAfter(time.Second) })
			if res, err := client.Post(server.HTTPURL(), "text/plain",
				strings.NewReader("SYSTEM STOP LISTEN "+port)); err == nil {
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
		status, answer := query(t, address,
			"WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 3) SELECT * FROM t")
		require.Equal(t, http.StatusBadRequest, status, answer)
		require.Contains(t, answer, "SYNTAX_ERROR")
	}
	require.Equal(t, "1", must(t, server.HTTPURL(), "WITH recursive AS (SELECT 1 AS n) SELECT n FROM recursive"))
}
