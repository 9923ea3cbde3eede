package bench_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/cmd/lodestone-lab/overlay"
)

// programs builds what a bench consists of, once, and returns the directory.
var programs = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "lodestone-bench-bin-") // the tests share it, so it is none of theirs
	if err != nil {
		return "", err
	}
	build := func(in, name string) error {
		cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o",
			filepath.Join(dir, name), "lodestone/cmd/"+name)
		cmd.Env, cmd.Dir = append(os.Environ(), "CGO_ENABLED=0"), in
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w: %s", name, err, out)
		}
		return nil
	}
	product, err := overlay.Root(context.Background())
	return dir, errors.Join(err, build(".", "lodestone-lab"), build(product, "lodestone"),
		build(product, "lodestone-clickhouse"))
})

// run runs one of the programs to its end, and returns what it printed.
func run(t *testing.T, program string, args ...string) (string, error) {
	t.Helper()
	dir, err := programs()
	require.NoError(t, err)
	// engines are started, and there may be much to do beside it
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(dir, program), args...)
	cmd.Dir, cmd.WaitDelay = t.TempDir(), 5*time.Second // what a killed process leaves behind must not hold the test up
	out, err := cmd.CombinedOutput()
	return string(out), err
}
