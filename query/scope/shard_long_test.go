//go:build long

package scope_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/engine/enginetest"
	"lodestone/query/querytest"
	"lodestone/query/scope"
)

// An account sees its rows once, and nothing of another account's, whichever replica answers. What counts as complete is as far
// behind as replicas may be.
func TestAccountsAreApartOnReplicas(t *testing.T) {
	t.Parallel()
	copies := enginetest.NewCopies(t, 2, 2)
	_, err := clickhouse.Migrate(t.Context(), copies.Config)
	require.NoError(t, err)
	three, five := querytest.ID(t), querytest.ID(t)
	for i, of := range []map[uuid.UUID]int{{three: 2}, {three: 1, five: 5}} {
		for account, n := range of {
			storeRows(t, copies.Servers[i][0].Conn(), i, n, account)
		}
		copies.Servers[i][1].Sync("events")
	}
	c := copies.Config
	c.Writers, c.MaxLag = alwaysFirst{}, time.Minute
	ch, err := scope.Open(c, querytest.Limits())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ch.Close()) })
	for range 4 { // each server answers in turn
		for _, sql := range forgetful {
			require.EqualValues(t, 3, count(t, ch, three, sql), sql)
			require.EqualValues(t, 5, count(t, ch, five, sql), sql)
			require.Zero(t, count(t, ch, querytest.ID(t), sql), sql)
		}
	}
	for _, sql := range append(escaping, "SELECT count() FROM clusterAllReplicas('lodestone', lodestone.events)",
		"SELECT count() FROM remote('"+copies.Servers[0][0].Address()+"', lodestone.events, 'lodestone', '')") {
		require.Error(t, ch.Query(context.Background(), three, scope.Statement{Name: "test", SQL: sql}, func(scope.Row) error { return nil }), sql)
	}
	asked := time.Now()
	until, err := ch.Settled(t.Context())
	require.NoError(t, err)
	const behind = time.Minute + 10*time.Second
	require.WithinRange(t, until, asked.Add(-behind-20*time.Second), time.Now().Add(-behind))

	s, err := scope.OpenStreams(c, copies.Servers[1][1].Server.HTTPURL(), querytest.Limits())
	require.NoError(t, err)
	t.Cleanup(s.Close)
	got, err := stream(t, s, three, scope.Statement{Name: "test", SQL: "SELECT count() FROM lodestone.events"})
	require.NoError(t, err)
	require.Equal(t, "3\n", got)

	// One of two replicas is enough to read. Without both, the answer is an outage.
	require.NoError(t, copies.Servers[1][1].Server.Stop(t.Context()))
	copies.Servers[1][1].Cut()
	require.Eventually(t, func() bool { return count(t, ch, five, "SELECT count() FROM lodestone.events") == 5 }, time.Minute, 50*time.Millisecond)
	require.NoError(t, copies.Servers[1][0].Server.Stop(t.Context()))
	copies.Servers[1][0].Cut()
	err = ch.Query(t.Context(), three, scope.Statement{Name: "test", SQL: "SELECT count() FROM lodestone.events"}, func(scope.Row) error { return nil })
	require.True(t, scope.IsUnavailable(err), "%v", err)
}
