package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A number without a suffix is that of the commit, in a file of it. Others are for trials.
func TestANumberIsThatOfItsCommit(t *testing.T) {
	t.Parallel()
	source := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=Test", "-c", "user.email=test@example.com"}, args...)...)
		cmd.Dir = source
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return strings.TrimSpace(string(out))
	}
	commit := func(number string) string {
		t.Helper()
		require.NoError(t, os.MkdirAll(filepath.Join(source, "pkg", "build"), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(source, numberFile), []byte(number+"\n"), 0o600))
		git("add", "--all")
		git("commit", "--quiet", "--allow-empty", "--message", "x")
		return git("rev-parse", "HEAD")
	}
	build := func(version, commit string) error {
		return buildCommand{Version: version, Commit: commit, Date: time.Now(), Source: source, Out: filepath.Join(t.TempDir(), "out")}.Run(t.Context())
	}
	const unbuilt = "is not built, run `make web`" // what is examined next
	git("init", "--quiet")
	first := commit("0.1.0")
	require.ErrorContains(t, build("0.1.0", first), unbuilt)
	require.NoError(t, os.WriteFile(filepath.Join(source, numberFile), []byte("0.3.0\n"), 0o600))
	require.ErrorContains(t, build("0.3.0", first), `of this commit is "0.1.0", and not 0.3.0`, "it is not committed")
	second := commit("0.2.0")
	require.ErrorContains(t, build("0.1.0", second), `of this commit is "0.2.0", and not 0.1.0`)
	require.ErrorContains(t, build("0.1.0", first), "check that out", "the checkout is another commit")
	require.ErrorContains(t, build("0.2.0", second), unbuilt)
	require.ErrorContains(t, build("0.3.0-dev", second), unbuilt)
	require.ErrorContains(t, build("0.3.0-rc.1", second), unbuilt)
}

// The commands of "Make a release" work as they are written: the key is made where the build looks
// for it, and the number is the commit's.
func TestCommandsOfARelease(t *testing.T) {
	t.Parallel()
	_, page, found := strings.Cut(string(readFile(t, "../../docs/release.md")), "## Make a release")
	require.True(t, found)
	line := func(with string) string {
		for line := range strings.Lines(page) {
			if strings.HasPrefix(line, "LODESTONE_RELEASE_PASSWORD=… "+with) {
				return strings.ReplaceAll(strings.TrimSpace(line), "…", "secret")
			}
		}
		t.Fatal("docs/release.md has no command " + with)
		return ""
	}
	home, work := t.TempDir(), t.TempDir()
	shell := func(dir, command string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+home, "MAKEFLAGS=", "GOCACHE="+cache(t), "GOMODCACHE="+modules(t))
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := shell(".", "go build -o "+filepath.Join(work, "bin", "lodestone-release")+" .")
	require.NoError(t, err, out)
	out, err = shell(work, line("bin/lodestone-release key"))
	require.NoError(t, err, out)
	release := line("make release")
	_, key, _ := strings.Cut(release, "KEY=")
	out, err = shell(work, "test -s "+key)
	require.NoError(t, err, "%s is not what was made: %s", key, out)

	committed := strings.TrimSpace(string(readFile(t, "../../"+numberFile)))
	require.Regexp(t, number, committed)
	require.Contains(t, release, "VERSION="+committed+" ", "the page has the number of this commit")
	for _, command := range []string{release, strings.Replace(release, "VERSION="+committed+" ", "", 1)} {
		out, err = shell("../..", strings.Replace(command, "make release", "make --dry-run --always-make release", 1))
		require.NoError(t, err, out)
		require.Contains(t, out, "--version '"+committed+"'")
		require.Contains(t, out, "--out 'bin/release-"+committed+"'")
		require.Less(t, strings.Index(out, "--try"), strings.Index(out, "npm"), "a wrong number is found before anything is built")
	}
	for _, file := range []string{"../../README.md", "../../docs/start.md"} {
		require.Contains(t, string(readFile(t, file)), "make release", file)
	}
}

func cache(t *testing.T) string   { return goEnv(t, "GOCACHE") }
func modules(t *testing.T) string { return goEnv(t, "GOMODCACHE") }

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}
