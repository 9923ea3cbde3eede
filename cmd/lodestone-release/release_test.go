package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const testVersion = "0.1.0"

// testKey signs the releases of tests. It is made for each run, so that it is nowhere to be found.
var built struct {
	once     sync.Once
	dir      string
	commit   string    // of both copies, with the number of the version
	releases [2]string // the same release, built from two directories
	public   string
	err      error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// releases returns two directories with the release for this machine, built from two copies of the
// checkout: the second by the program that `make release` runs. RELEASE_PLATFORMS=all builds for
// every platform, without what the compiler remembers of the first.
func releases(t *testing.T) [2]string {
	t.Helper()
	built.once.Do(func() { built.err = buildTwice(t.Context()) })
	require.NoError(t, built.err)
	return built.releases
}

func buildTwice(ctx context.Context) (err error) {
	if built.dir, err = os.MkdirTemp("", "lodestone-release-test-"); err != nil {
		return err
	}
	if err := os.Chmod(built.dir, 0o755); err != nil {
		return err
	}
	keys := filepath.Join(built.dir, "keys")
	if err := os.Mkdir(keys, 0o700); err != nil {
		return err
	}
	if err := errors.Join(os.Setenv("LODESTONE_RELEASE_PASSWORD", "only in this test"), keyCommand{keys}.Run()); err != nil {
		return err
	}
	built.public = filepath.Join(keys, "minisign.pub")
	platforms := []platform{{"linux", runtime.GOARCH}}
	if os.Getenv("RELEASE_PLATFORMS") == "all" {
		platforms = []platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}}
	}
	site := filepath.Join(built.dir, "site")
	if err := errors.Join(os.MkdirAll(filepath.Join(site, "docs"), 0o700), os.WriteFile(filepath.Join(site, "docs", "start.html"), []byte("<h1>Start</h1>"), 0o600)); err != nil {
		return err
	}
	sources := []string{filepath.Join(built.dir, "first"), filepath.Join(built.dir, "another", "place")}
	if err := copyCheckout(ctx, sources[0]); err != nil {
		return err
	}
	if built.commit, err = commitCopy(ctx, sources[0]); err != nil {
		return err
	}
	if err := os.CopyFS(sources[1], os.DirFS(sources[0])); err != nil { // not again from the checkout, which someone may be editing
		return err
	}
	r := &release{
		Version: testVersion, Commit: built.commit, Date: time.Date(2026, 11, 26, 5, 0, 0, 0, time.UTC),
		Source: sources[0], Out: filepath.Join(sources[0], "bin", "release"), Site: site, Platforms: platforms,
	}
	built.releases = [2]string{r.Out, filepath.Join(sources[1], "bin", "release")}
	if err := r.build(ctx); err != nil {
		return err
	}
	if len(platforms) > 1 {
		if err := os.Setenv("GOCACHE", filepath.Join(built.dir, "cache")); err != nil {
			return err
		}
	}
	if err := buildByProgram(ctx, r, sources[1], built.releases[1]); err != nil {
		return err
	}
	for _, out := range built.releases {
		if err := sign(out, filepath.Join(keys, "minisign.key"), password(), testVersion); err != nil {
			return err
		}
	}
	return nil
}

// buildByProgram builds the release r again, from another copy, by the program that the Makefile of
// the copy builds.
func buildByProgram(ctx context.Context, r *release, source, out string) error {
	// What this make was given, such as VERSION, is not for the copy.
	if _, err := execute(ctx, source, "env", "-u", "MAKEFLAGS", "-u", "MAKELEVEL", "make", "bin/lodestone-release"); err != nil {
		return err
	}
	args := []string{"build", "--version", r.Version, "--commit", r.Commit, "--date", r.Date.Format(time.RFC3339), "--out", out, "--site", r.Site}
	for _, p := range r.Platforms {
		args = append(args, "--platform", p.system+"/"+p.processor)
	}
	_, err := execute(ctx, source, filepath.Join(source, "bin", "lodestone-release"), args...)
	return err
}

// commitCopy makes a repository of a copy, whose only commit has the number of the version, and
// returns its hash.
func commitCopy(ctx context.Context, dir string) (string, error) {
	if err := os.WriteFile(filepath.Join(dir, numberFile), []byte(testVersion+"\n"), 0o600); err != nil {
		return "", err
	}
	for _, args := range [][]string{
		{"init", "--quiet"},
		{"add", "--all"},
		{"-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false", "commit", "--quiet", "--message", "Release"},
	} {
		if _, err := execute(ctx, dir, "git", args...); err != nil {
			return "", err
		}
	}
	hash, err := execute(ctx, dir, "git", "rev-parse", "HEAD")
	return strings.TrimSpace(hash), err
}

// execute returns what a program prints, which must succeed.
func execute(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %v: %w: %s", name, args, err, out)
	}
	return string(out), nil
}

// copyCheckout copies what git has, and the front-ends that are built.
func copyCheckout(ctx context.Context, to string) error {
	const root = "../.."
	cmd := exec.CommandContext(ctx, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	names := strings.Split(strings.TrimRight(string(out), "\x00"), "\x00")
	for _, built := range []string{"crud/viewer/dist", "crud/embed/dist", "crud/dashboard/island/dist", "ingest/beacon/dist"} {
		err := filepath.WalkDir(filepath.Join(root, built), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			name, err := filepath.Rel(root, path)
			names = append(names, name)
			return err
		})
		if err != nil {
			return err
		}
	}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(root, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, but not committed yet
		}
		if err != nil {
			return err
		}
		file := filepath.Join(to, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, text, 0o600)); err != nil {
			return err
		}
	}
	return nil
}

// The bytes of a release depend on the source and the version of Go, and neither on the directory
// nor on the time.
func TestTheSameSourceIsTheSameRelease(t *testing.T) {
	both := releases(t)
	entries, err := os.ReadDir(both[0])
	require.NoError(t, err)
	again, err := os.ReadDir(both[1])
	require.NoError(t, err)
	require.Len(t, again, len(entries))
	require.Greater(t, len(entries), 10)
	for _, e := range entries {
		one, err := os.ReadFile(filepath.Join(both[0], e.Name()))
		require.NoError(t, err)
		two, err := os.ReadFile(filepath.Join(both[1], e.Name()))
		require.NoError(t, err)
		require.True(t, bytes.Equal(one, two), "%s differs between two builds of the same source", e.Name())
		require.NotContains(t, string(one), built.dir, "%s has a path of the machine", e.Name())
	}
}

// Who downloads a file can tell that it is the one that was released, under its name.
func TestSignaturesHoldForTheirFilesOnly(t *testing.T) {
	source := releases(t)[0]
	checked, err := verify(source, built.public)
	require.NoError(t, err)
	require.Equal(t, 8, checked)

	dir := t.TempDir()
	reset := func() {
		require.NoError(t, os.RemoveAll(dir))
		require.NoError(t, os.CopyFS(dir, os.DirFS(source)))
	}
	archive := filepath.Join(dir, archiveName("deb"))
	reset()
	file, err := os.OpenFile(archive, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = file.WriteString("x")
	require.NoError(t, errors.Join(err, file.Close()))
	_, err = verify(dir, built.public)
	require.ErrorContains(t, err, "its checksum differs")
	// Whoever changes the checksums as well has no signature.
	list := filepath.Join(dir, "lodestone-0.1.0-sha256.txt")
	require.NoError(t, os.Remove(list))
	for _, e := range []string{list + signature} {
		require.NoError(t, os.Rename(e, filepath.Join(t.TempDir(), "kept")))
	}
	signatures, err := filepath.Glob(filepath.Join(dir, "*"+signature))
	require.NoError(t, err)
	for _, s := range signatures {
		require.NoError(t, os.Rename(s, s+".kept"))
	}
	require.NoError(t, writeChecksums(dir, "lodestone-0.1.0-sha256.txt"))
	for _, s := range signatures {
		require.NoError(t, os.Rename(s+".kept", s))
	}
	require.NoError(t, os.WriteFile(list+signature, readFile(t, filepath.Join(source, filepath.Base(list)+signature)), 0o600))
	_, err = verify(dir, built.public)
	require.Error(t, err)

	// The signature of one file is not that of another.
	reset()
	require.NoError(t, os.WriteFile(archive+signature, readFile(t, filepath.Join(dir, archiveName("rpm")+signature)), 0o600))
	_, err = verify(dir, built.public)
	require.ErrorContains(t, err, "the signature of "+archiveName("deb")+" is not valid")

	// Another's key has signed nothing here.
	other := t.TempDir()
	require.NoError(t, keyCommand{other}.Run())
	_, err = verify(source, filepath.Join(other, "minisign.pub"))
	require.ErrorContains(t, err, "is not valid")
	require.Error(t, keyCommand{other}.Run(), "a key is not overwritten")
	require.Error(t, sign(other, filepath.Join(other, "minisign.key"), "another password", testVersion))
}

func TestNumbersOfReleases(t *testing.T) {
	for version, valid := range map[string]bool{"0.1.0": true, "1.20.3-rc.1": true, "v0.1.0": false, "0.1": false, "devel": false, "0.1.0;x": false} {
		require.Equal(t, valid, number.MatchString(version), version)
	}
}

func archiveName(ext string) string {
	return "lodestone-" + testVersion + "-linux-" + runtime.GOARCH + "." + ext
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return text
}
