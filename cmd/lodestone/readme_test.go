package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/engine/enginetest"
)

// The commands under "A first look" in the README do what the README says, in a shell, against
// `lodestone up` as it is built.
func TestReadmeFirstLook(t *testing.T) {
	t.Parallel()
	root, err := enginetest.Root()
	require.NoError(t, err)
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	_, section, found := strings.Cut(string(readme), "\n## A first look\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	var blocks []string
	for _, part := range strings.Split(section, "```sh\n")[1:] {
		block, _, closed := strings.Cut(part, "```")
		require.True(t, closed)
		blocks = append(blocks, block)
	}
	require.Len(t, blocks, 6)
	prepare, send, ask := strings.Join(blocks[:3], ""), blocks[3], strings.Join(blocks[4:], "")

	dir := enginetest.Dir(t)
	require.NoError(t, os.Symlink(filepath.Join(root, "cmd"), filepath.Join(dir, "cmd")))
	startUp(t, dir)

	state := filepath.Join(dir, "state")
	shell := func(script string) string {
		cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s\n%s", script, out)
		return string(out)
	}
	sent := shell(prepare + send + "declare -p magnet token; declare -p magnet token >" + state)
	require.Contains(t, sent, `{"accepted":1,"rejected":[]}`)

	ask = blocks[0] + "source " + state + "\n" + ask
	require.Eventually(t, func() bool {
		cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", ask)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		answer := string(out)
		return err == nil &&
			strings.Contains(answer, `"event_type":"page_viewed","event_data":{"page":1,"duration_ms":8200}`) &&
			strings.Contains(answer, `"total_links":1,"total_views":1,"unique_lead_magnets":1`) &&
			strings.Contains(answer, "│ page_viewed │")
	}, 20*time.Second, 100*time.Millisecond)
}

// startUp builds the programs and runs `lodestone up` on dir/data and free ports until the test
// ends.
func startUp(t *testing.T, dir string) {
	t.Helper()
	bin := t.TempDir()
	for _, name := range []string{"lodestone", "lodestone-clickhouse"} {
		cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", filepath.Join(bin, name), "lodestone/cmd/"+name)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	args := []string{"up", "--data", filepath.Join(dir, "data"), "--postgres-port=0", "--kafka-port=0", "--clickhouse-port=0", "--clickhouse-http-port=0"}
	for _, flag := range []string{"--listen", "--collector-listen", "--admin-listen"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		args = append(args, flag, l.Addr().String())
		require.NoError(t, l.Close())
	}
	cmd := exec.Command(filepath.Join(bin, "lodestone"), args...)
	said := &bytes.Buffer{}
	ready := make(chan struct{})
	cmd.Stdout = &watcher{out: said, words: "Ctrl-C stops everything", seen: ready}
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
		require.NoError(t, <-ended)
	})
	select {
	case <-ready:
	case err := <-ended:
		ended <- err
		t.Fatal(fmt.Errorf("lodestone up ended: %w", err))
	}
}

// watcher closes seen when the words have been written.
type watcher struct {
	out   *bytes.Buffer
	words string
	seen  chan struct{}
	done  bool
}

// Write implements io.Writer.
func (w *watcher) Write(p []byte) (int, error) {
	n, err := w.out.Write(p)
	if !w.done && strings.Contains(w.out.String(), w.words) {
		w.done = true
		close(w.seen)
	}
	return n, err
}
