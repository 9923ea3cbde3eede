package overlay

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// repository is one of a test.
type repository struct {
	t   *testing.T
	dir string
}

func newRepository(t *testing.T) repository {
	t.Helper()
	r := repository{t, t.TempDir()}
	r.run("init", "--quiet")
	return r
}

func (r repository) run(args ...string) string {
	r.t.Helper()
	out, err := gitIn(r.t.Context(), r.dir, append([]string{"-c", "user.name=Test", "-c", "user.email=test@example.com"}, args...)...)
	require.NoError(r.t, err)
	return out
}

func (r repository) write(file string) {
	r.t.Helper()
	path := filepath.Join(r.dir, file)
	require.NoError(r.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(r.t, os.WriteFile(path, []byte("SELECT 1;"), 0o644))
}

func (r repository) commit(files ...string) string {
	r.t.Helper()
	for _, file := range files {
		r.write(file)
		r.run("add", file)
	}
	r.run("commit", "--quiet", "--allow-empty", "--message", "x")
	return r.run("rev-parse", "HEAD")
}

// clone returns a clone with some of the repository's history.
func (r repository) clone(args ...string) repository {
	r.t.Helper()
	to := repository{r.t, r.t.TempDir()}
	to.run(append(append([]string{"clone", "--quiet"}, args...), "file://"+r.dir, ".")...)
	return to
}

// An upgrade starts from the newest tag below this commit, whether this commit is a release itself or some commits later. If that tag has the same
// migrations, a second upgrade starts from the newest one with fewer.
func TestReleases(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.commit("pkg/postgres/migrations/1.sql", "README.md")
	requireReleases := func(why string, want ...Release) {
		t.Helper()
		got, err := releases(t.Context(), r.dir)
		require.NoError(t, err)
		require.Equal(t, want, got, why)
	}
	r.run("tag", "v0.1.0")
	r.run("tag", "nightly")
	r.commit("LICENSE")
	requireReleases("the first release has the same schema", Release{"v0.1.0", false})
	r.write("pkg/clickhouse/migrations/1.sql")
	requireReleases("a migration is not committed yet", Release{"v0.1.0", true})
	r.commit("pkg/clickhouse/migrations/1.sql")
	requireReleases("the schema is newer", Release{"v0.1.0", true})
	r.run("tag", "v0.2.0-rc.1")
	r.commit()
	r.run("tag", "v0.2.0")
	requireReleases("this is the second release", Release{"v0.2.0-rc.1", false}, Release{"v0.1.0", true})
	r.commit()
	requireReleases("the second release has the same schema", Release{"v0.2.0", false}, Release{"v0.1.0", true})
	r.run("checkout", "--quiet", "-b", "other", "v0.1.0")
	r.commit("pkg/postgres/migrations/3.sql")
	requireReleases("the second release is not below this commit", Release{"v0.1.0", true})
}

// Any tag or commit can be named.
func TestANamedRelease(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	early := r.commit("pkg/postgres/migrations/1.sql")
	r.commit("pkg/postgres/migrations/2.sql")
	r.run("tag", "--annotate", "--message", "x", "v0.1.0")
	r.commit()
	for revision, migrates := range map[string]bool{"v0.1.0": false, "HEAD": false, early: true, early[:12]: true} {
		release, err := named(t.Context(), r.dir, revision)
		require.NoError(t, err)
		require.Equal(t, Release{revision, migrates}, release)
	}
	_, err := named(t.Context(), r.dir, "v0.3.0")
	require.ErrorIs(t, err, errIncomplete)
	require.ErrorContains(t, err, "lacks v0.3.0; run `git fetch --tags`")
}

// A clone without tags or without history does not pass for one with less to upgrade from.
func TestAnIncompleteClone(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.commit("pkg/postgres/migrations/1.sql")
	r.run("tag", "v0.1.0")
	r.commit()
	whole, err := releases(t.Context(), r.clone().dir)
	require.NoError(t, err)
	require.Equal(t, []Release{{"v0.1.0", false}}, whole)
	for _, c := range []struct{ args, lacks, command string }{
		{"--no-tags", "the tag of a release below this commit", "`git fetch --tags`"},
		{"--depth=1", "the tag of a release below this commit", "`git fetch --unshallow --tags`"},
	} {
		_, err := releases(t.Context(), r.clone(c.args).dir)
		require.ErrorIs(t, err, errIncomplete, c.args)
		require.ErrorContains(t, err, c.lacks, c.args)
		require.ErrorContains(t, err, c.command, c.args)
	}
}
