//go:build long

package replica_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/ingest/replica"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
	"lodestone/pkg/engine/enginetest"
)

// What operators do: they see the replicas, move the writer, and drop one that does not come back. Its blocks get other tokens from then on.
func TestAReplicaIsDropped(t *testing.T) {
	t.Parallel()
	copies := enginetest.NewCopies(t, 1, 3)
	servers := copies.Servers[0]
	_, err := clickhouse.Migrate(t.Context(), copies.Config)
	require.NoError(t, err)
	topology, err := clickhouse.NewTopology(copies.Config)
	require.NoError(t, err)
	cluster := &replica.Cluster{Ledger: replica.NewLedger(enginetest.MigratedPostgres(t)), Topology: topology, Log: slog.New(slog.DiscardHandler)}
	_, _, err = cluster.Writer(t.Context(), 1)
	require.ErrorIs(t, err, replica.ErrNoRecord)
	require.NoError(t, cluster.Enrol(t.Context()))
	all, err := cluster.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, []replica.State{{Shard: 1, Name: "r0", Writes: true, Epoch: 1}, {Shard: 1, Name: "r1", Epoch: 1}, {Shard: 1, Name: "r2", Epoch: 1}}, all)

	require.NoError(t, cluster.Check(t.Context(), copies.Config))
	fewer := copies.Config
	fewer.Shards = servers[0].Address() + "," + servers[1].Address()
	err = cluster.Check(t.Context(), fewer)
	require.True(t, config.IsInvalid(err), "%v", err)
	require.ErrorContains(t, err, "2 of the 3 replicas")

	operate := func(fn func(context.Context, *replica.Mover) (replica.Record, error), waits func(string)) (r replica.Record, err error) {
		ctx, cancel := context.WithTimeout(t.Context(), enginetest.Timeout)
		defer cancel()
		waiting := func(what string) {
			if waits != nil {
				waits(what)
				cancel() // it would wait for good
			}
		}
		err = cluster.Until(ctx, 1, waiting, func(m *replica.Mover) (err error) {
			r, err = fn(ctx, m)
			return err
		})
		return r, err
	}
	move := func(ctx context.Context, m *replica.Mover) (replica.Record, error) { return m.Move(ctx, "r1") }
	drop := func(ctx context.Context, m *replica.Mover) (replica.Record, error) { return m.Drop(ctx, "r0") }
	_, err = operate(drop, nil)
	require.ErrorContains(t, err, "take over first")
	servers[1].Cut()
	servers[2].Cut()
	var waits []string
	_, err = operate(move, func(what string) { waits = append(waits, what) })
	require.Error(t, err)
	require.Equal(t, []string{"replica r1 and 2 of 3 replicas answer"}, waits, "one of three does not go on")
	_, _, err = cluster.Writer(t.Context(), 1)
	require.ErrorContains(t, err, "has taken over")
	servers[1].Heal()
	servers[2].Heal()
	r, err := operate(move, nil)
	require.NoError(t, err)
	require.Equal(t, "r1", r.Writer)
	require.EqualValues(t, 2, r.Epoch)

	_, err = operate(drop, nil)
	require.ErrorContains(t, err, "stop it first")
	servers[0].Cut()
	r, err = operate(drop, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"r1", "r2"}, r.Replicas)
	require.Equal(t, 1, r.Drops)
	require.EqualValues(t, 3, r.Epoch, "inserts under old tokens are refused")
	require.True(t, r.Ready)
	again, err := operate(drop, nil)
	require.NoError(t, err)
	require.Equal(t, r, again)
	all, err = cluster.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, []replica.State{{Shard: 1, Name: "r1", Writes: true, Epoch: 3}, {Shard: 1, Name: "r2", Epoch: 3}}, all)

	servers[0].Heal()
	require.NoError(t, cluster.Enrol(t.Context()), "as `lodestone migrate` with the address of a new server")
	r, err = cluster.Read(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, []string{"r0", "r1", "r2"}, r.Replicas)
	require.Equal(t, "r1", r.Writer)
}
