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

	"github.com/stretchr/testify/require"
)

const (
	testVersion = "0.1.0"
	signature   = ".minisig"
	password    = "only in this test"
)

// built is the release of the tests. Its key is made for each run, so that it is nowhere to be
// found.
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

// releases returns two directories with the release for this machine, built by `make release` from
// two copies of the checkout. RELEASE_PLATFORMS=all builds for every platform, without what the
// compiler remembers of the first.
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
	built.public = filepath.Join(built.dir, "minisign.pub")
	key := filepath.Join(built.dir, "minisign.key")
	if _, err := execute(ctx, built.dir, password+"\n"+password+"\n", "minisign", "-G", "-p",
		built.public, "-s", key); err != nil {
		return err
	}
	sources := []string{filepath.Join(built.dir, "first"), filepath.Join(built.dir, "another", "place")}
	if err := copyCheckout(ctx, sources[0]); err != nil {
		return err
	}
	all := os.Getenv("RELEASE_PLATFORMS") == "all"
	if !all {
		if err := onlyThisPlatform(filepath.Join(sources[0], ".goreleaser.yaml")); err != nil {
			return err
		}
	}
	if built.commit, err = commitCopy(ctx, sources[0]); err != nil {
		return err
	}
	if err := os.CopyFS(sources[1],
		os.DirFS(sources[0])); err != nil { // not again from the checkout, which someone may be editing
		return err
	}
	for i, source := range sources {
		if all && i == 1 {
			if err := os.Setenv("GOCACHE", filepath.Join(built.dir, "cache")); err != nil {
				return err
			}
		}
		built.releases[i] = filepath.Join(source, "bin", "release-"+testVersion)
		if err := makeRelease(ctx, source, key); err != nil {
			return err
		}
	}
	return nil
}

// makeRelease runs `make release` in a copy, whose front-ends are built already, with a site of one
// page.
func makeRelease(ctx context.Context, source, key string) error {
	tools, err := filepath.Abs("../../.cache/bin")
	if err != nil {
		return err
	}
	site := filepath.Join(source, ".cache", "site", "docs")
	err = errors.Join(os.MkdirAll(site, 0o700), os.WriteFile(filepath.Join(site, "start.html"),
		[]byte("<h1>Start</h1>"), 0o600),
		os.Symlink(tools, filepath.Join(source, ".cache", "bin")))
	if err != nil {
		return err
	}
	// What this make was given, such as VERSION, is not for the copy.
	_, err = execute(ctx, source, password+"\n", "env", "-u", "MAKEFLAGS", "-u", "MAKELEVEL", "-u", "VERSION",
		"make", "--old-file=web", "--old-file=site", "release", "KEY="+key)
	return err
}

// onlyThisPlatform leaves that of this machine in the configuration of goreleaser.
func onlyThisPlatform(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	changed := strings.NewReplacer("goos: [linux, darwin]", "goos: [linux]", "goarch: [amd64, arm64]",
		"goarch: ["+runtime.GOARCH+"]").Replace(string(text))
	if changed == string(text) {
		return errors.New(file + " names its platforms in another way")
	}
	return os.WriteFile(file, []byte(changed), 0o600)
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
		{"-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false", "commit",
			"--quiet", "--message", "Release"},
	} {
		if _, err := execute(ctx, dir, "", "git", args...); err != nil {
			return "", err
		}
	}
	hash, err := execute(ctx, dir, "", "git", "rev-parse", "HEAD")
	return strings.TrimSpace(hash), err
}

// execute returns what a program prints, which must succeed.
func execute(ctx context.Context, dir, input, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(input)
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
	for _, built := range []string{"crud/viewer/dist", "crud/embed/dist",
		"crud/dashboard/frame/island/dist", "ingest/collector/dist"} {
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
		if strings.HasSuffix(e.Name(), signature) { // which has its time
			continue
		}
		one, err := os.ReadFile(filepath.Join(both[0], e.Name()))
		require.NoError(t, err)
		two, err := os.ReadFile(filepath.Join(both[1], e.Name()))
		require.NoError(t, err)
		require.True(t, bytes.Equal(one, two), "%s differs between two builds of the same source", e.Name())
		require.NotContains(t, string(one), built.dir, "%s has a path of the machine", e.Name())
	}
}

// Each file has a checksum and a signature, which names it. TestTheCommandsOfADownload checks that
// another file is found.
func TestEachFileIsSigned(t *testing.T) {
	source := releases(t)[0]
	files, err := filepath.Glob(filepath.Join(source, "*[^g]"))
	require.NoError(t, err)
	require.Len(t, files, 8)
	sums := string(readFile(t, filepath.Join(source, "lodestone-"+testVersion+"-sha256.txt")))
	for _, file := range files {
		out, err := execute(t.Context(), source, "", "minisign", "-V", "-p", built.public, "-m", file)
		require.NoError(t, err)
		require.Contains(t, out, "file:"+filepath.Base(file))
		if !strings.HasSuffix(file, "-sha256.txt") {
			require.Contains(t, sums, "  "+filepath.Base(file)+"\n")
		}
	}
	_, err = execute(t.Context(), source, "", "sha256sum", "--check", "lodestone-"+testVersion+"-sha256.txt")
	require.NoError(t, err)
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
