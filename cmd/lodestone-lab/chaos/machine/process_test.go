package machine

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A process that was killed for an hour and is started again begins its next life at once if it
// ends by itself.
func TestStartForgetsHowLongAProcessWasDown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	lives := filepath.Join(dir, "lives")
	write := func(script string) { require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\n"+script), 0o700)) }
	write("exec sleep 600")
	p := &Process{Name: "test", Dir: dir, Program: program, Log: slog.New(slog.DiscardHandler)}
	await := func(what func() bool) { require.Eventually(t, what, time.Minute, 10*time.Millisecond) }

	require.NoError(t, p.Start())
	await(func() bool { return p.Running() != 0 })
	p.Kill(time.Hour)
	p.Stop(time.Minute)

	write("echo life >> lives")
	require.NoError(t, p.Start())
	defer p.Stop(time.Minute)
	await(func() bool {
		text, err := os.ReadFile(lives)
		return err == nil && len(text) > len("life\n")
	})
}
