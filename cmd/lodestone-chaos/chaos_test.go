package main

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

	"lodestone/pkg/engine"
	"lodestone/pkg/event"
)

// try runs a schedule on programs built with the tags.
func try(t *testing.T, tags string, brokers, rate int, steps ...string) *report {
	t.Helper()
	// Not t.TempDir(): PostgreSQL, which is another user if we are root, has to get there.
	dir, err := os.MkdirTemp("", "lodestone-chaos-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o711))
	programs := filepath.Join(dir, "bin")
	require.NoError(t, buildPrograms(t.Context(), programs, tags))
	ctx, cancel := context.WithTimeout(t.Context(), 35*time.Minute)
	defer cancel()
	r, err := chaos(ctx, options{
		Seed: 20261, Rate: rate, Senders: 8, Brokers: brokers, Steps: steps, Pause: 1500 * time.Millisecond, Recover: 10 * time.Minute,
		NoSpool: tags == "chaos_early_ack", // it would save most of what was acknowledged too early
		Dir:     dir, Programs: programs, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if r != nil {
		require.NoError(t, r.write(t.Output()))
	}
	require.NoError(t, err, "logs are in %s", dir)
	if r.ok() || tags != "" {
		require.NoError(t, engine.RemoveDir(dir))
	}
	return r
}

// The short form of `make chaos`.
func TestChaos(t *testing.T) {
	t.Parallel()
	var steps []string
	for _, f := range faults() {
		if f.short {
			steps = append(steps, f.name)
		}
	}
	r := try(t, "", 3, 1500, steps...)
	require.True(t, r.ok())
	require.Greater(t, r.Findings.Acked, int64(50_000))
	require.Positive(t, r.Findings.Poison)
}

// The runner is worth nothing unless it notices. Each of these builds breaks one of the rules.
func TestChaosNotices(t *testing.T) {
	t.Parallel()
	// One after the other: each has a Kafka, a ClickHouse and a PostgreSQL of its own.
	for _, broken := range []struct {
		rule, tags, steps string
		wrong             func(f *findings) int64
	}{
		{"rule R switched off", "chaos_no_rule_r", "tokens evicted,committed offsets set back,committed offsets set back", func(f *findings) int64 { return f.Doubled }},
		{"window of repeats switched off", "chaos_no_window", "kill -9 consumer", func(f *findings) int64 { return f.Doubled }},
		{"acknowledged early", "chaos_early_ack", "kill -9 collector that cannot reach Kafka", func(f *findings) int64 { return f.Lost }},
	} {
		r := try(t, broken.tags, 1, 800, strings.Split(broken.steps, ",")...)
		require.False(t, r.ok(), broken.rule)
		require.Positive(t, broken.wrong(r.Findings), broken.rule)
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

func TestIDsTellTheirNumber(t *testing.T) {
	t.Parallel()
	run := ids{run: [8]byte{0xff, 1, 2, 3, 4, 5, 6, 7}}
	for _, number := range []uint64{0, 1, 4711, 1<<48 - 1} {
		id := run.event(number)
		require.Equal(t, uuid.Version(8), id.Version())
		require.Equal(t, uuid.RFC4122, id.Variant())
		got, ours := run.number(id)
		require.True(t, ours)
		require.Equal(t, number, got)
		require.NotEqual(t, id, run.session(number))
	}
	_, ours := run.number(uuid.New())
	require.False(t, ours)
}

func TestLedgerKeepsWhatSendersWereTold(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.txt")
	l, err := newLedger(path)
	require.NoError(t, err)
	require.NoError(t, l.write(true, false, 1, 0, 2))
	require.NoError(t, l.write(false, true, 2, 2, 1))
	require.NoError(t, l.close())
	all, err := readLedger(path, 4)
	require.NoError(t, err)
	require.Equal(t, []promise{{step: 1, acked: true}, {step: 1, acked: true}, {step: 2, maybe: true, view: true}, {}}, all)
	_, err = readLedger(path, 2)
	require.ErrorContains(t, err, "beyond")
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
