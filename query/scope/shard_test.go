package scope_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
	"lodestone/pkg/suspect"
	"lodestone/pkg/test/enginetest"
	"lodestone/query/querytest"
	"lodestone/query/scope"
)

// storeOn stores events of an account on one shard, and a link view.
func storeOn(t *testing.T, shards *enginetest.Shards, i, n int, account uuid.UUID) {
	t.Helper()
	storeRows(t, shards.Conn(t, i), i, n, account)
}

func storeRows(t *testing.T, conn driver.Conn, i, n int, account uuid.UUID) {
	t.Helper()
	var events []querytest.StoredEvent
	topic := querytest.ID(t)
	for offset := range n {
		events = append(events, querytest.StoredEvent{
			Event: event.Event{
				AccountID: account, LeadMagnetID: querytest.ID(t), AccessLinkID: querytest.ID(t), EventID: querytest.ID(t),
				Type: event.PageViewed, CreatedAt: time.Now().UnixMilli(), ReceivedAt: time.Now().UnixMilli(),
			},
			TopicID: topic, Partition: int32(i), Offset: int64(offset),
		})
	}
	querytest.Store(t, conn, events...)
	require.NoError(t, conn.Exec(context.Background(),
		fmt.Sprintf("INSERT INTO lodestone.link_views (account_id, created_at) VALUES ('%s', now())", account)))
}

// What holds of one server holds of several shards: an account sees its rows on all of them, and
// nothing of another account's on any.
func TestAccountsAreApartOnEveryShard(t *testing.T) {
	t.Parallel()
	shards := enginetest.NewShards(t, 2)
	three, five := querytest.ID(t), querytest.ID(t)
	storeOn(t, shards, 0, 2, three)
	storeOn(t, shards, 1, 1, three)
	storeOn(t, shards, 1, 5, five)

	ch, err := scope.Open(shards.Config, querytest.Limits())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ch.Close()) })
	for range 2 { // each shard answers in turn
		for _, sql := range forgetful {
			require.EqualValues(t, 3, count(t, ch, three, sql), sql)
			require.EqualValues(t, 5, count(t, ch, five, sql), sql)
			require.Zero(t, count(t, ch, querytest.ID(t), sql), sql)
		}
	}
	// A suspected session is on record on every shard, and its events on one.
	var left uuid.UUID
	require.NoError(t, shards.Conn(t, 1).QueryRow(t.Context(), fmt.Sprintf(
		"SELECT event_id FROM lodestone.events WHERE account_id = '%s'", three)).Scan(&left))
	for i := range 2 {
		require.NoError(t, shards.Conn(t, i).Exec(t.Context(), fmt.Sprintf(
			"INSERT INTO lodestone.suspects (id, account_id, rule, version) VALUES ('%s', '%s', 'network', 1)", left, three)))
	}
	for range 2 {
		var n uint64
		require.NoError(t, ch.Query(scope.Leaving(t.Context(), suspect.Network), three, scope.Statement{Name: "test",
			SQL: "SELECT count() FROM lodestone.events WHERE event_id NOT IN (SELECT event_id FROM lodestone.events WHERE 0)"},
			func(row scope.Row) error { return row.Scan(&n) }))
		require.EqualValues(t, 2, n)
	}
	require.EqualValues(t, 2, count(t, ch, three, "SELECT count() FROM lodestone.link_views"))
	require.EqualValues(t, 1, count(t, ch, five, "SELECT count() FROM lodestone.link_views"))
	require.Zero(t, count(t, ch, three, fmt.Sprintf("SELECT count() FROM lodestone.events WHERE account_id = '%s'", five)))
	for _, sql := range append(escaping, "SELECT count() FROM clusterAllReplicas('lodestone', lodestone.events)",
		"SELECT count() FROM cluster('lodestone', lodestone, events)") {
		require.Error(t, ch.Query(context.Background(), three, scope.Statement{Name: "test", SQL: sql},
			func(scope.Row) error { return nil }), sql)
	}
	var followed uint64
	require.NoError(t, ch.Follow(t.Context(), []uuid.UUID{three},
		scope.Statement{Name: "test", SQL: "SELECT count() FROM lodestone.events"},
		func(row scope.Row) error { return row.Scan(&followed) }))
	require.EqualValues(t, 3, followed)
	now := time.Now()
	news, err := ch.News(t.Context(), now.Add(-time.Hour), now.Add(time.Hour))
	require.NoError(t, err)
	require.Equal(t, map[uuid.UUID]bool{three: true, five: true}, news)

	for _, server := range shards.Servers {
		s, err := scope.OpenStreams(shards.Config, server.HTTPURL(), querytest.Limits())
		require.NoError(t, err)
		t.Cleanup(s.Close)
		for _, sql := range forgetful {
			got, err := stream(t, s, three, scope.Statement{Name: "test", SQL: sql})
			require.NoError(t, err, sql)
			require.Equal(t, "3\n", got, sql)
		}
	}

	// A shard that does not answer is an outage, never a smaller answer.
	require.NoError(t, shards.Servers[1].Stop(t.Context()))
	err = ch.Query(t.Context(), three, scope.Statement{Name: "test", SQL: "SELECT count() FROM lodestone.events"},
		func(scope.Row) error { return nil })
	require.True(t, scope.IsUnavailable(err), "%v", err)
	require.Error(t, ch.Ping(t.Context()))
	_, _, err = ch.Horizon(t.Context())
	require.True(t, scope.IsUnavailable(err), "%v", err)
}

// A file that lacks the rows of a shard looks like any other. So the server that writes it has to
// read all shards.
func TestExportsAreOfAllShards(t *testing.T) {
	t.Parallel()
	shards, other := enginetest.NewShards(t, 2), enginetest.NewShards(t, 1)
	account := querytest.ID(t)
	storeOn(t, shards, 0, 2, account)
	storeOn(t, shards, 1, 1, account)
	storeOn(t, other, 0, 1, account)
	for _, statement := range []string{
		"CREATE DATABASE lodestone_all",
		"CREATE TABLE lodestone_all.shard AS lodestone.shard ENGINE = Distributed('lodestone', 'lodestone', 'shard')",
		"CREATE TABLE lodestone_all.events AS lodestone.events ENGINE = Distributed('lodestone', 'lodestone', 'events')",
	} {
		require.NoError(t, other.Conn(t, 0).Exec(t.Context(), statement))
	}
	s, err := scope.OpenStreams(shards.Config, other.Servers[0].HTTPURL(), querytest.Limits())
	require.NoError(t, err)
	t.Cleanup(s.Close)
	_, err = stream(t, s, account, scope.Statement{Name: "test", SQL: "SELECT count() FROM lodestone.events"})
	require.ErrorContains(t, err, "has the shards [1], and --clickhouse-shards has 2")
	require.True(t, scope.IsUnavailable(err), "%v", err)
}
