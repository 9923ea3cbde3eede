package chaos

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/cmd/lodestone-lab/chaos/mutant"
	"lodestone/pkg/engine"
	"lodestone/pkg/event"
)

// The short form of `make chaos`.
func TestChaos(t *testing.T) {
	t.Parallel()
	var steps []string
	for _, f := range faults() {
		if f.short && !f.cluster {
			steps = append(steps, f.name)
		}
	}
	// Not t.TempDir(): PostgreSQL, which is another user if we are root, has to get there.
	dir, err := os.MkdirTemp("", "lodestone-chaos-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o711))
	programs := filepath.Join(dir, "bin")
	require.NoError(t, buildPrograms(t.Context(), programs, ""))
	ctx, cancel := context.WithTimeout(t.Context(), 35*time.Minute)
	defer cancel()
	r, err := chaos(ctx, options{
		Seed: 20261, Rate: 1000, Senders: 8, Brokers: 3, Steps: steps,
		Pause: 1500 * time.Millisecond, Recover: 10 * time.Minute,
		Dir: dir, Programs: programs, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if r != nil {
		require.NoError(t, r.write(t.Output()))
	}
	require.NoError(t, err, "logs are in %s", dir)
	require.True(t, r.ok())
	require.Greater(t, r.Findings.Acked, int64(50_000))
	require.Positive(t, r.Findings.Poison)
	require.NoError(t, engine.RemoveDir(dir))
}

// The short form of `make test-cluster`.
func TestClusterChaos(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "lodestone-chaos-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o711))
	programs := filepath.Join(dir, "bin")
	require.NoError(t, buildPrograms(t.Context(), programs, ""))
	ctx, cancel := context.WithTimeout(t.Context(), 25*time.Minute)
	defer cancel()
	r, err := chaos(ctx, options{
		Seed: 20262, Rate: 1000, Senders: 8, Brokers: 1, Cluster: true,
		Pause: 1500 * time.Millisecond, Recover: 10 * time.Minute,
		Steps: []string{"a shard is away", "kill -9 consumer", "kill -9 pgbouncer", "a shard is away"},
		Dir:   dir, Programs: programs, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if r != nil {
		require.NoError(t, r.write(t.Output()))
	}
	require.NoError(t, err, "logs are in %s", dir)
	require.True(t, r.ok())
	require.Positive(t, r.Findings.Asked)
	for i, rows := range r.Findings.ShardRows {
		require.Positive(t, rows, shardName(i))
	}
	require.NoError(t, engine.RemoveDir(dir))
}

// The short form of `make chaos CHAOS="--copies"`.
func TestCopiesChaos(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "lodestone-chaos-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o711))
	programs := filepath.Join(dir, "bin")
	require.NoError(t, buildPrograms(t.Context(), programs, ""))
	ctx, cancel := context.WithTimeout(t.Context(), 25*time.Minute)
	defer cancel()
	r, err := chaos(ctx, options{
		Seed: 20263, Rate: 1000, Senders: 8, Brokers: 1, Copies: true, Pause: 1500 * time.Millisecond,
		Recover: 10 * time.Minute, Away: 10 * time.Second,
		Steps: []string{"kill -9 clickhouse", "kill -9 " + otherServer, "SIGSTOP " + otherConsumer,
			"records expired unread", copyLost},
		Dir: dir, Programs: programs, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if r != nil {
		require.NoError(t, r.write(t.Output()))
	}
	require.NoError(t, err, "logs are in %s", dir)
	require.True(t, r.ok())
	require.Positive(t, r.Asked.answered)
	require.Len(t, r.Findings.Compared, 2, "of events, and of link views")
	require.NoError(t, engine.RemoveDir(dir))
}

// The runner is worth nothing unless it notices. Each of these builds breaks one of the rules.
// `make chaos CHAOS="--mutants"` tries all of them.
//
//nolint:tparallel // one after the other: each has a Kafka, a ClickHouse and a PostgreSQL of its own
func TestChaosNotices(t *testing.T) {
	t.Parallel()
	for i, m := range mutant.All() {
		if m.Short && m.Package == "" { // the others are tried by the tests of package mutant
			t.Run(m.Name, func(t *testing.T) {
				require.NoError(t, tryMutant(t.Context(), m, "", i, slog.New(slog.NewTextHandler(t.Output(), nil))))
			})
		}
	}
}

func TestPoisonCannotBecomeRows(t *testing.T) {
	t.Parallel()
	for kind, record := range poisons(link{account: uuid.New(), magnet: uuid.New(), id: uuid.New()}) {
		var e event.Event
		require.Error(t, e.Decode(record), kind)
		var v event.LinkView
		require.Error(t, v.Decode(record), kind)
	}
}

// A seed stands for one schedule, and a round of it holds every fault once.
func TestDeckIsDecidedByItsSeed(t *testing.T) {
	t.Parallel()
	names := []string{"a", "b", "c", "d", "e"}
	deal := func(seed uint64) (round []string) {
		order := deck(seed, names)
		for step := 1; step <= 2*len(names); step++ {
			round = append(round, order(step))
		}
		return round
	}
	first, again := deal(1), deal(1)
	require.Equal(t, first, again)
	require.NotEqual(t, strings.Join(deal(1), ""), strings.Join(deal(2), ""))
	require.ElementsMatch(t, names, deal(3)[:len(names)])
	require.ElementsMatch(t, names, deal(3)[len(names):])
}
