package overlay

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The release before is the newest tag below this commit, whether this commit is a release itself or some commits later.
func TestTheReleaseBefore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		out, err := gitIn(t.Context(), dir, append([]string{"-c", "user.name=Test", "-c", "user.email=test@example.com"}, args...)...)
		require.NoError(t, err)
		return out
	}
	commit := func() string {
		t.Helper()
		run("commit", "--quiet", "--allow-empty", "--message", "x")
		return run("rev-parse", "HEAD")
	}
	before := func() string {
		t.Helper()
		revision, err := before(t.Context(), dir)
		require.NoError(t, err)
		return revision
	}
	run("init", "--quiet")
	first := commit()
	commit()
	require.Equal(t, first, before(), "no release yet")
	run("tag", "v0.1.0")
	require.Equal(t, first, before(), "this is the first release")
	run("tag", "nightly")
	commit()
	require.Equal(t, "v0.1.0", before())
	commit()
	run("tag", "v0.2.0")
	require.Equal(t, "v0.1.0", before(), "this is the second release")
	commit()
	require.Equal(t, "v0.2.0", before())
}
