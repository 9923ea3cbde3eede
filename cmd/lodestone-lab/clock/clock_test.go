package clock_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/cmd/lodestone-lab/clock"
)

// A process whose clock is moved is not this one: other tests run in it.
func TestMain(m *testing.M) {
	if path := os.Getenv(clock.Variable); path != "" {
		follow(path)
		return
	}
	os.Exit(m.Run())
}

// follow prints by how many seconds the time of day and the monotonic clock moved with the file.
func follow(path string) {
	file, err := clock.Make(path)
	if err == nil {
		err = clock.Follow(path)
	}
	for _, ahead := range []time.Duration{time.Hour, -time.Hour, 0} {
		if err != nil {
			fmt.Fprintln(os.Stdout, err)
			os.Exit(1)
		}
		before := time.Now()
		err = file.Set(ahead)
		after := time.Now()
		fmt.Fprintln(os.Stdout, after.Round(0).Sub(before.Round(0)).Round(time.Minute), after.Sub(before) < time.Minute)
	}
}

func TestTheTimeOfDayMovesAndTheMonotonicClockDoesNot(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), clock.Variable+"="+filepath.Join(t.TempDir(), "clock"))
	output, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", output)
	require.Equal(t, []string{"1h0m0s true", "-2h0m0s true", "1h0m0s true"},
		strings.Split(strings.TrimSpace(string(output)), "\n"))
}

// A store fences its inserts by a time that a set clock must not move.
func TestTheStoreKeepsTheEndOfAnInsertsTime(t *testing.T) {
	t.Parallel()
	sources, err := clock.Sources()
	require.NoError(t, err)
	sources["ingest/stream/clock_chaos_test.go"], err = os.ReadFile("testdata/stream_test.go.txt")
	require.NoError(t, err)
	cmd, err := sources.Go(t.Context(), t.TempDir(), "test", "-count=1", "-v", "-vet=off", "-run",
		"^TestTheEndOfAnInsertsTimeStaysWhenTheClockIsSet$", "./ingest/stream")
	require.NoError(t, err)
	cmd.Env = append(os.Environ(), clock.Variable+"="+filepath.Join(t.TempDir(), "clock"))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS")
}
