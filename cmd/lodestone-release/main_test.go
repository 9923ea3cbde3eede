package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A number without a suffix belongs to the commit with its tag. Others are for trials.
func TestANumberNeedsItsTag(t *testing.T) {
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
	commit := func() string {
		t.Helper()
		git("commit", "--quiet", "--allow-empty", "--message", "x")
		return git("rev-parse", "HEAD")
	}
	build := func(version, commit string) error {
		return buildCommand{Version: version, Commit: commit, Date: time.Now(), Source: source, Out: filepath.Join(t.TempDir(), "out")}.Run(t.Context())
	}
	const unbuilt = "is not built, run `make web`" // what is examined next
	git("init", "--quiet")
	first := commit()
	require.ErrorContains(t, build("0.1.0", first), "the tag v0.1.0")
	git("tag", "--annotate", "--message", "x", "v0.1.0")
	require.ErrorContains(t, build("0.1.0", first), unbuilt)
	second := commit()
	require.ErrorContains(t, build("0.1.0", second), "the tag v0.1.0")
	require.ErrorContains(t, build("0.1.0", first), "the tag v0.1.0", "the checkout is another commit")
	require.ErrorContains(t, build("0.2.0", second), "the tag v0.2.0")
	require.ErrorContains(t, build("0.2.0-dev", second), unbuilt)
	require.ErrorContains(t, build("0.2.0-rc.1", second), unbuilt)
}
