//go:build long

package query_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/engine/enginetest"
	"lodestone/pkg/event"
	"lodestone/query"
	"lodestone/query/querytest"
)

// secondWrites says that the second replica of each shard writes.
type secondWrites struct{}

func (secondWrites) Writer(context.Context, uint16) (string, int64, error) { return "r1", 1, nil }

func (secondWrites) Replicas(context.Context, uint16) ([]string, error) {
	return []string{"r0", "r1"}, nil
}

// Of replicas that lag, ClickHouse reads those within --clickhouse-max-lag. If a shard has none, the request gets 503 with the time to try again,
// and never fewer events.
func TestReplicasThatLagAreNotRead(t *testing.T) {
	t.Parallel()
	copies := enginetest.NewCopies(t, 2, 2)
	_, err := clickhouse.Migrate(t.Context(), copies.Config)
	require.NoError(t, err)
	account := querytest.ID(t)
	for i, shard := range copies.Servers { // the first replica lacks it
		querytest.Store(t, shard[1].Conn(), querytest.Stored{
			Event: event.Event{
				AccountID: account, LeadMagnetID: querytest.ID(t), AccessLinkID: querytest.ID(t), EventID: querytest.ID(t), Type: event.PageViewed,
				CreatedAt: time.Now().UnixMilli(), ReceivedAt: time.Now().UnixMilli(),
			},
			TopicID: querytest.ID(t), Partition: int32(i),
		})
		shard[0].Lag(time.Minute)
	}
	ch := copies.Config
	ch.Writers, ch.MaxLag = secondWrites{}, 30*time.Second // as `lodestone query` does with its setting
	s, _ := serveWith(t, config(), query.Deps{
		ClickHouse: ch, ClickHouseHTTP: copies.Servers[0][0].Server.HTTPURL(), Postgres: enginetest.MigratedPostgres(t), Log: querytest.Log(), Registerer: prometheus.NewRegistry(),
	})
	for range 8 { // each server is asked
		require.Equal(t, 2, s.list(account, nil).Pagination.Total)
	}
	last := copies.Servers[1][1]
	last.Lag(31 * time.Second)
	got := s.get(account, "/api/v1/analytics", nil)
	require.Equal(t, http.StatusServiceUnavailable, got.status, "%s", got.body)
	require.Equal(t, "1", got.header.Get("Retry-After"))
	require.Contains(t, string(got.body), `"unavailable"`)
	last.Lag(29 * time.Second)
	require.Equal(t, 2, s.list(account, nil).Pagination.Total)
}
