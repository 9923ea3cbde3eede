package overlay

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The release before is the newest tag below this commit that has fewer migrations, whether this commit is a release itself or some commits later.
func TestTheReleaseBefore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		out, err := gitIn(t.Context(), dir, append([]string{"-c", "user.name=Test", "-c", "user.email=test@example.com"}, args...)...)
		require.NoError(t, err)
		return out
	}
	commit := func(files ...string) string {
		t.Helper()
		for _, file := range files {
			path := filepath.Join(dir, file)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, []byte("SELECT 1;"), 0o644))
			run("add", file)
		}
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
	first := commit("pkg/postgres/migrations/1.sql")
	commit()
	require.Equal(t, first, before(), "no release yet")
	run("tag", "v0.1.0")
	require.Equal(t, first, before(), "this is the first release")
	run("tag", "nightly")
	commit("README.md")
	require.Equal(t, first, before(), "the first release has the same schema")
	commit("pkg/postgres/migrations/2.sql")
	require.Equal(t, "v0.1.0", before())
	commit()
	run("tag", "v0.2.0")
	require.Equal(t, "v0.1.0", before(), "this is the second release")
	commit()
	require.Equal(t, "v0.1.0", before(), "the second release has the same schema")
	commit("pkg/clickhouse/migrations/1.sql")
	require.Equal(t, "v0.2.0", before())
	run("checkout", "--quiet", "-b", "other", "v0.1.0")
	commit("pkg/postgres/migrations/2.sql")
	require.Equal(t, "v0.1.0", before(), "the second release is not below this commit")
}
