//go:build long

package clickhouse_test

import (
	"maps"
	"testing"

	"lodestone/pkg/clickhouse"
)

// Every kind of statement, with two places and without a limit of threads.
func TestNoStatementStopsAnyServer(t *testing.T) {
	t.Parallel()
	a := newAnalytics(t, generous)
	requireNoStop(a, clickhouse.Workload(2, 0), 2, maps.Keys(stalls))
	requireNoStop(a, clickhouse.Workload(2, 3), 2, maps.Keys(stalls))
}
