package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/build"
)

// The shell completes the commands, the commands of commands, and their flags.
func TestCompletionInBash(t *testing.T) {
	t.Parallel()
	p := launch(t, t.TempDir(), nil, "completion", "bash")
	require.Zero(t, p.wait())
	script := filepath.Join(t.TempDir(), "lodestone")
	require.NoError(t, os.WriteFile(script, []byte(p.out.String()), 0o600))
	for typed, want := range map[string]string{
		"lodestone coll":                                 "collector",
		"lodestone account cr":                           "create",
		"lodestone account create --pl":                  "--plan",
		"lodestone up --clickhouse-http-p":               "--clickhouse-http-port",
		"lodestone dead-letters replay --al":             "--all",
		"lodestone migrate --postgres-url x --kafka-bro": "--kafka-brokers",
	} {
		cmd := exec.CommandContext(t.Context(), "bash", "-c",
			`PATH="$2:$PATH"; source "$0"; read -ra COMP_WORDS <<<"$1"; COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _lodestone lodestone; echo "${COMPREPLY[@]}"`, script, typed, binaries(t))
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Equal(t, want, strings.TrimSpace(string(out)), typed)
	}
	for _, shell := range []string{"zsh", "fish"} {
		p := launch(t, t.TempDir(), nil, "completion", shell)
		require.Zero(t, p.wait())
		path, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("no %s on this machine: its completion is not parsed", shell)
			continue
		}
		cmd := exec.CommandContext(t.Context(), path, "-n")
		cmd.Stdin = strings.NewReader(p.out.String())
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		if shell == "fish" {
			cmd := exec.CommandContext(t.Context(), path, "-c", p.out.String()+"complete -C 'lodestone account cr'")
			cmd.Env = append(os.Environ(), "PATH="+binaries(t)+":"+os.Getenv("PATH"))
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Contains(t, string(out), "create\tCreate an account and print its id\n")
		}
	}
	require.Equal(t, exitSettings, launch(t, t.TempDir(), nil, "completion", "tcsh").wait())
}

// A program shows which build it is, and the versions that have to agree with those of other
// releases.
func TestVersionOfABuild(t *testing.T) {
	t.Parallel()
	v, err := currentVersions()
	require.NoError(t, err)
	require.GreaterOrEqual(t, v.PostgresSchema, int64(111))
	require.GreaterOrEqual(t, v.ClickHouseSchema, int64(20))
	v.Info = build.Info{Version: "0.1.0", Commit: "77289bb", Date: "2026-11-26T05:00:00Z",
		Go: "go1.26.8", Platform: "linux/amd64"}
	var text strings.Builder
	require.NoError(t, v.print(&text, false))
	for _, part := range []string{"lodestone 0.1.0\n", "77289bb", "2026-11-26T05:00:00Z", "go1.26.8 for linux/amd64",
		"block rules", "Postgres schema"} {
		require.Contains(t, text.String(), part)
	}
	text.Reset()
	require.NoError(t, v.print(&text, true))
	require.Contains(t, text.String(), `"block_rules": 3`)
}
