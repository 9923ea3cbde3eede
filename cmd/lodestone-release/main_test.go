package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const numberFile = "pkg/build/VERSION"

// A number without a suffix is that of the commit, in a file of it. Others are for trials.
func TestANumberIsThatOfItsCommit(t *testing.T) {
	t.Parallel()
	source := t.TempDir()
	makefile, err := filepath.Abs("../../Makefile")
	require.NoError(t, err)
	git := func(args ...string) {
		t.Helper()
		_, err := execute(t.Context(), source, "", "git",
			append([]string{"-c", "user.name=Test", "-c", "user.email=test@example.com"}, args...)...)
		require.NoError(t, err)
	}
	number := func(number string) {
		t.Helper()
		require.NoError(t, os.MkdirAll(filepath.Join(source, "pkg", "build"), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(source, numberFile), []byte(number+"\n"), 0o600))
	}
	check := func(variables ...string) error {
		_, err := execute(t.Context(), source, "", "env",
			append([]string{"-u", "MAKEFLAGS", "-u", "VERSION", "make", "-f", makefile, "release-number"}, variables...)...)
		return err
	}
	git("init", "--quiet")
	number("0.1.0")
	require.ErrorContains(t, check(), "not committed")
	git("add", "--all")
	git("commit", "--quiet", "--message", "x")
	for _, version := range []string{"0.1.0", "0.3.0-dev", "0.3.0-rc.1"} {
		require.NoError(t, check("VERSION="+version), version)
	}
	require.NoError(t, check())
	require.ErrorContains(t, check("VERSION=0.3.0"), "pkg/build/VERSION is 0.1.0, and not 0.3.0")
	for _, version := range []string{"v0.1.0", "0.1", "devel", "0.1.0;x"} {
		require.ErrorContains(t, check("VERSION="+version), "is not the number of a release")
	}
	require.ErrorContains(t, check("RELEASE_DIR=pkg"), "pkg is not empty")
}

// The commands of "Make a release" work as they are written: the key is made where the build looks
// for it, and the number is the commit's.
func TestCommandsOfARelease(t *testing.T) {
	t.Parallel()
	_, page, found := strings.Cut(string(readFile(t, "../../docs/release.md")), "## Make a release")
	require.True(t, found)
	block := func(beginning string) string {
		m := regexp.MustCompile("(?s)```sh\n(" + regexp.QuoteMeta(beginning) + ".*?)```").FindStringSubmatch(page)
		require.NotNil(t, m, beginning)
		return m[1]
	}
	home, work := t.TempDir(), t.TempDir()
	shell := func(dir, command string) (string, error) {
		return execute(t.Context(), dir, password+"\n"+password+"\n", "env", "HOME="+home, "MAKEFLAGS=",
			"GOCACHE="+goEnv(t, "GOCACHE"), "GOMODCACHE="+goEnv(t, "GOMODCACHE"), "sh", "-ec", command)
	}
	_, err := shell(work, block("minisign -G"))
	require.NoError(t, err)
	release := strings.TrimSpace(block("make release"))
	_, key, _ := strings.Cut(release, "KEY=")
	_, err = shell(work, "test -s "+key)
	require.NoError(t, err, "%s is not what was made", key)

	committed := strings.TrimSpace(string(readFile(t, "../../"+numberFile)))
	require.Contains(t, release, "VERSION="+committed+" ", "the page has the number of this commit")
	for _, command := range []string{release, strings.Replace(release, "VERSION="+committed+" ", "", 1)} {
		out, err := shell("../..", strings.Replace(command, "make release", "make --dry-run --always-make release", 1))
		require.NoError(t, err)
		require.Contains(t, out, "bin/release-"+committed+"'/*")
		require.Less(t, strings.Index(out, "is not the number of a release"), strings.Index(out, "npm"),
			"a wrong number is found before anything is built")
	}
	for _, file := range []string{"../../README.md", "../../docs/start.md"} {
		require.Contains(t, string(readFile(t, file)), "make release", file)
	}
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}
