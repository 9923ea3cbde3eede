package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/build"
	"lodestone/pkg/config"
)

// Each command has its manual page, with each of its settings, and the program that prints manuals
// has no complaint about one.
func TestManualHasEveryCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := launch(t, dir, nil, "manual", dir)
	require.Zero(t, p.wait(), "%s", p.out)
	parser, err := newParser(&commands{}, &config.Files{Getenv: os.Getenv})
	require.NoError(t, err)
	pages := 0
	for _, c := range parser.Model.Leaves(true) {
		pages++
		name := strings.ReplaceAll(c.FullPath(), " ", "-")
		text, err := os.ReadFile(filepath.Join(dir, name+".1"))
		require.NoError(t, err)
		page := strings.ReplaceAll(string(text), `\&`, "")
		require.Contains(t, page, c.Help)
		for _, group := range c.AllFlags(true) {
			for _, f := range group {
				require.Contains(t, page, "--"+f.Name, name)
				require.Contains(t, page, f.Help, name)
				if f.Name != "help" && !config.FlagOnly(f) {
					require.Contains(t, page, config.EnvName(f.Name), name)
				}
			}
		}
	}
	require.Greater(t, pages, 30)
	if _, err := exec.LookPath("man"); err != nil {
		t.Log("no man on this machine: the pages are not rendered")
		return
	}
	for _, page := range []string{"lodestone.1", "lodestone-up.1", "lodestone-dead-letters-replay.1"} {
		cmd := exec.CommandContext(t.Context(), "man", "--warnings", "--local-file", page)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "MANPAGER=cat", "LC_ALL=C.UTF-8")
		text, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", text)
		require.NotContains(t, string(text), "warning:")
		require.Contains(t, string(text), "SYNOPSIS")
	}
}

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
		cmd := exec.CommandContext(t.Context(), "bash", "-c", `source "$0"; read -ra COMP_WORDS <<<"$1"; COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _lodestone; echo "${COMPREPLY[@]}"`, script, typed)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Equal(t, want, strings.TrimSpace(string(out)), typed)
	}
	for _, shell := range []string{"zsh", "fish"} {
		p := launch(t, t.TempDir(), nil, "completion", shell)
		require.Zero(t, p.wait())
		require.Contains(t, p.out.String(), "kafka-brokers")
		path, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("no %s on this machine: its completion is not parsed", shell)
			continue
		}
		cmd := exec.CommandContext(t.Context(), path, "--no-execute")
		cmd.Stdin = strings.NewReader(p.out.String())
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
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
	v.Info = build.Info{Version: "0.1.0", Commit: "77289bb", Date: "2026-11-26T05:00:00Z", Go: "go1.26.8", Platform: "linux/amd64"}
	var text strings.Builder
	require.NoError(t, v.print(&text, false))
	for _, part := range []string{"lodestone 0.1.0\n", "77289bb", "2026-11-26T05:00:00Z", "go1.26.8 for linux/amd64", "block rules", "Postgres schema"} {
		require.Contains(t, text.String(), part)
	}
	text.Reset()
	require.NoError(t, v.print(&text, true))
	require.Contains(t, text.String(), `"block_rules": 2`)
}
