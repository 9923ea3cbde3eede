package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

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

	app := newUp(t)
	dir := app.dir
	require.NoError(t, os.Symlink(filepath.Join(root, "cmd"), filepath.Join(dir, "cmd")))
	app.start()

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
	// The rest of the test repeats the questions; a person would wait briefly.

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
	}, enginetest.Timeout, interval)
}
