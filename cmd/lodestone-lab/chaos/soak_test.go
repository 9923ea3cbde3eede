package chaos

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/engine"
)

// The short form of `make soak`: the operations follow each other, with a kill between them.
func TestSoak(t *testing.T) {
	t.Parallel()
	// Not t.TempDir(): PostgreSQL, which is another user if we are root, has to get there.
	dir, err := os.MkdirTemp("", "lodestone-soak-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o711))
	c := &SoakCommand{Duration: time.Minute, Rate: 800, Batch: 50, Senders: 8, Brokers: 1, Seed: 20264,
		Sample: 500 * time.Millisecond, WarmUp: 2 * time.Second, Out: t.TempDir(), Steps: []string{
			backup, "kill -9 consumer", backup, eraseOne, restoreBoth, "kill -9 crud",
		}}
	ctx, cancel := context.WithTimeout(t.Context(), 25*time.Minute)
	defer cancel()
	r, err := c.run(ctx, dir, slog.New(slog.NewTextHandler(t.Output(), nil)))
	if r != nil {
		require.NoError(t, c.publish(ctx, r))
	}
	require.NoError(t, err, "logs are in %s", dir)
	require.True(t, r.report.ok()) // minutes tell nothing of growth
	require.Greater(t, r.Acked, int64(10_000))
	lines, err := os.ReadFile(filepath.Join(c.Out, "soak.csv"))
	require.NoError(t, err)
	for _, process := range []string{"collector1", "collector2", "consumer1", "consumer2", "query1", "crud1",
		"clickhouse", "postgres", "kafka1"} {
		require.Contains(t, string(lines), ","+process+",")
	}
	require.NoError(t, engine.RemoveDir(dir))
}

// usage is a process that uses so much memory at a time after its start, in MiB.
func usage(process string, pid int, from, long time.Duration, memory func(age time.Duration) float64) (all []sample) {
	for age := time.Duration(0); age <= long; age += 5 * time.Second {
		all = append(all, sample{at: from + age, process: process, pid: pid, resident: uint64(memory(age) * mebibyte),
			goroutines: 50, descriptors: 30})
	}
	return all
}

// Memory that rises and falls is flat; recoveries are ignored. Memory that rises within a calm
// time, or from one calm time to the next, is not flat.
func TestFlat(t *testing.T) {
	t.Parallel()
	const warmUp = time.Minute
	saw := func(age time.Duration) float64 { return 60 + float64(age/time.Second%30) }
	leak := func(age time.Duration) float64 { return 60 + 6*age.Minutes() }
	full := func(age time.Duration) float64 { return min(20+2*age.Seconds(), 80) } // caches fill while it warms up
	higher := func(age time.Duration) float64 { return saw(age) + 40 }
	of := func(all ...[]sample) []string {
		s := &samples{}
		for _, some := range all {
			s.all = append(s.all, some...)
		}
		return flat(s.calms(warmUp))
	}
	grows := func(what string, found []string) {
		t.Helper()
		require.Len(t, found, 1)
		require.Contains(t, found[0], what)
	}
	during := func(step string, all []sample) []sample {
		for i := range all {
			all[i].step = step
		}
		return all
	}
	require.Empty(t, of(usage("consumer1", 1, 0, 20*time.Minute, saw),
		usage("consumer1", 2, 20*time.Minute, 20*time.Minute, full)))
	grows("consumer1: resident memory grow in a calm time of 20m0s", of(usage("consumer1", 1, 0, 20*time.Minute, leak)))
	grows("every collector: resident memory grow from the first calm time to the last",
		of(usage("collector1", 1, 0, 20*time.Minute, saw), usage("collector1", 2, 20*time.Minute, 10*time.Minute, higher)))
	require.Empty(t, of(usage("consumer1", 1, 0, 20*time.Minute, saw), usage("consumer2", 2, 0, 20*time.Minute, higher),
		usage("consumer1", 3, 20*time.Minute, 10*time.Minute, higher), usage("consumer2", 4, 20*time.Minute,
			10*time.Minute, saw)), "partitions moved")
	require.Empty(t, of(usage("collector1", 1, 0, 90*time.Second, leak)), "too short to tell")
	require.Empty(t, of(usage("collector1", 1, 0, 10*time.Minute, saw),
		during("kill -9 broker", usage("collector1", 1, 10*time.Minute, 10*time.Minute, higher)),
		usage("collector1", 1, 20*time.Minute, 10*time.Minute, saw)))

	goroutines := usage("query1", 1, 0, 10*time.Minute, saw)
	for i := range goroutines {
		goroutines[i].goroutines += int64(i)
	}
	grows("query1: goroutines grow in a calm time of 10m0s", of(goroutines))
}

// Memory is flat only if a calm time of each process shows it.
func TestWhatWasNotMeasuredIsNotFlat(t *testing.T) {
	t.Parallel()
	even := func(time.Duration) float64 { return 60 }
	judge := func(warmUp time.Duration, all ...[]sample) *soaked {
		r := &soaked{report: &report{Findings: &findings{}}}
		for _, some := range all {
			r.samples.all = append(r.samples.all, some...)
		}
		r.judge(warmUp)
		return r
	}
	long := usage("collector1", 1, 0, 20*time.Minute, even)
	require.True(t, judge(time.Minute, long).ok())
	require.False(t, judge(time.Minute).ok(), "there are no samples")

	r := judge(time.Minute, long, usage("consumer1", 2, 0, 90*time.Second, even))
	require.False(t, r.ok())
	require.Equal(t, []string{"consumer1: no calm time of 2m0s or longer"}, r.growing)
	require.False(t, judge(time.Second, long, usage("consumer1", 2, 0, 90*time.Second, even)).ok(),
		"a short warm-up makes no calm time long")

	engine := usage("postgres", 3, 0, time.Minute, even)
	for i := range engine {
		engine[i].engine = true
	}
	require.True(t, judge(time.Minute, long, engine).ok(), "engines are not measured")
}

// Each part is killed, and everything else happens, in the time that events are sent.
func TestPlan(t *testing.T) {
	t.Parallel()
	steps, times := plan(2 * time.Hour)
	happens := map[string]int{}
	for i, name := range steps {
		require.Less(t, times[i], 2*time.Hour)
		if i > 0 {
			require.Greater(t, times[i], times[i-1])
		}
		happens[name]++
	}
	for _, kind := range killed {
		require.Equal(t, 2, happens["kill -9 "+kind], kind)
	}
	for name, times := range map[string]int{backup: 2, eraseOne: 1, restoreBoth: 1} {
		require.Equal(t, times, happens[name], name)
	}
}
