package install

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/test"
)

func TestMain(m *testing.M) { test.LeakMain(m) }

func installer(t *testing.T) *Installer {
	t.Helper()
	return &Installer{Cache: filepath.Join(t.TempDir(), "cache"), Log: slog.New(slog.DiscardHandler), PackagedOnly: true}
}

// counted is a bundle whose fetch writes one file and counts.
func counted(count *atomic.Int64) bundle {
	return bundle{
		name:  "thing",
		files: map[string][]byte{"package.json": []byte("{}")},
		fetch: func(_ context.Context, dir string) error {
			count.Add(1)
			return os.WriteFile(filepath.Join(dir, "file"), []byte("complete"), 0o600)
		},
	}
}

func TestManyInstallOnce(t *testing.T) {
	t.Parallel()
	cache := installer(t).Cache
	var count atomic.Int64
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			i := &Installer{Cache: cache, Log: slog.New(slog.DiscardHandler)} // as another process has
			dir, err := i.ensure(context.Background(), counted(&count))
			if err != nil {
				t.Error(err)
				return
			}
			if text, err := os.ReadFile(filepath.Join(dir, "file")); err != nil || string(text) != "complete" {
				t.Errorf("returned before it was complete: %q, %v", text, err)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 1, count.Load())
}

func TestInterruptedInstallationIsRepeated(t *testing.T) {
	t.Parallel()
	i := installer(t)
	var count atomic.Int64
	b := counted(&count)
	fetch := b.fetch
	b.fetch = func(_ context.Context, dir string) error {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "torn"), nil, 0o600))
		return errors.New("the power went")
	}
	_, err := i.ensure(context.Background(), b)
	require.ErrorContains(t, err, "the power went")

	b.fetch = fetch
	dir, err := i.ensure(context.Background(), b)
	require.NoError(t, err)
	require.NoFileExists(t, filepath.Join(dir, "torn"))
	again, err := i.ensure(context.Background(), b)
	require.NoError(t, err)
	require.Equal(t, dir, again)
	require.EqualValues(t, 1, count.Load())
}

func TestAnotherLockIsAnotherDirectory(t *testing.T) {
	t.Parallel()
	i := installer(t)
	var count atomic.Int64
	b := counted(&count)
	first, err := i.ensure(context.Background(), b)
	require.NoError(t, err)
	b.files = map[string][]byte{"package.json": []byte(`{"version":"2"}`)}
	second, err := i.ensure(context.Background(), b)
	require.NoError(t, err)
	require.NotEqual(t, first, second)
}

func TestInstalledFilesAreReadableByOtherUsers(t *testing.T) {
	t.Parallel()
	i := installer(t)
	var count atomic.Int64
	dir, err := i.ensure(context.Background(), counted(&count))
	require.NoError(t, err)
	info, err := os.Stat(filepath.Join(dir, "file"))
	require.NoError(t, err)
	require.EqualValues(t, 0o644, info.Mode().Perm())
}

func TestFullDiskIsReportedBeforeTheDownload(t *testing.T) {
	t.Parallel()
	i := installer(t)
	var count atomic.Int64
	b := counted(&count)
	b.size = 1 << 60
	_, err := i.ensure(context.Background(), b)
	require.ErrorContains(t, err, "free some space or give --engine-cache")
	require.Zero(t, count.Load())
}

// onlyProgram makes PATH hold one shell script, or nothing.
func onlyProgram(t *testing.T, name, script string) {
	t.Helper()
	dir := t.TempDir()
	if name != "" {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	}
	t.Setenv("PATH", dir)
}

func TestMissingNpm(t *testing.T) {
	onlyProgram(t, "", "")
	_, err := installer(t).Postgres(context.Background(), 0)
	require.ErrorContains(t, err, "npm was not found: install Node.js")
}

func TestFailingNpmSaysWhy(t *testing.T) {
	for output, remedy := range map[string]string{
		"npm error code ENOSPC":                        "the disk is full",
		"npm error code EINTEGRITY":                    "not the one that was locked",
		"npm error code ENOTFOUND\ngetaddrinfo failed": "check the network",
		"npm error code E404":                          "does not offer the package",
	} {
		onlyProgram(t, "npm", "echo '"+output+"' >&2; exit 1")
		_, err := installer(t).Postgres(context.Background(), 0)
		require.ErrorContains(t, err, remedy)
		require.ErrorContains(t, err, output, "the evidence")
	}
}

func TestMissingJavaAndMaven(t *testing.T) {
	onlyProgram(t, "", "")
	_, err := installer(t).ApacheKafka(context.Background())
	require.ErrorContains(t, err, "apt install openjdk-17-jre-headless")
	onlyProgram(t, "java", `echo 'openjdk version "11.0.2" 2019-01-15' >&2`)
	_, err = installer(t).ApacheKafka(context.Background())
	require.ErrorContains(t, err, `java is version "11"`)
	onlyProgram(t, "java", `echo 'openjdk version "17.0.15" 2025-04-15' >&2`)
	_, err = installer(t).ApacheKafka(context.Background())
	require.ErrorContains(t, err, "apt install maven")
}

func TestSystemClickHouseIsUsedIfItConfinesUsers(t *testing.T) {
	i := installer(t)
	i.PackagedOnly = false
	onlyProgram(t, "clickhouse", `echo "ClickHouse server version 26.9.2.1 (official build)."`)
	server, err := i.ClickHouse(context.Background())
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(server.Server, "/clickhouse"))
	require.Empty(t, server.Library)

	onlyProgram(t, "clickhouse", `echo "ClickHouse server version 26.7.2.1 (official build)."`)
	_, err = i.ClickHouse(context.Background())
	require.ErrorContains(t, err, "npm was not found", "it does not, so the package is wanted")
}

// On macOS, and on Linux with an ARM processor, everything but ClickHouse is there, and the error
// says how to get that.
func TestMachinesWithoutAPackageOfClickHouse(t *testing.T) {
	t.Parallel()
	ch, err := npmBundle("clickhouse")
	require.NoError(t, err)
	pg, err := npmBundle("postgres")
	require.NoError(t, err)
	for _, name := range []string{"darwin-arm64", "darwin-x64", "linux-arm64"} {
		require.True(t, locked(pg.files["package-lock.json"], "@embedded-postgres/"+name), name)
		require.False(t, locked(ch.files["package-lock.json"], "@chdb/lib-"+name) || locked(ch.files["package-lock.json"],
			"@chdb/lib-"+name+"-gnu"), "docs/release.md says that there is none")
	}
	err = noClickHouse("darwin", "arm64")
	require.ErrorIs(t, err, ErrUnsupported)
	for _, words := range []string{"darwin/arm64", "clickhouse server binary", "on the PATH", "--clickhouse-url"} {
		require.ErrorContains(t, err, words)
	}
}

func TestLockFilesPinWithoutNamingARegistry(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"clickhouse", "postgres"} {
		b, err := npmBundle(folder)
		require.NoError(t, err)
		var wanted struct{ OptionalDependencies map[string]string }
		require.NoError(t, json.Unmarshal(b.files["package.json"], &wanted))
		require.NotEmpty(t, wanted.OptionalDependencies)
		var lock struct {
			Packages map[string]struct{ Version, Integrity, Resolved string }
		}
		require.NoError(t, json.Unmarshal(b.files["package-lock.json"], &lock))
		for name, version := range wanted.OptionalDependencies {
			p := lock.Packages["node_modules/"+name]
			require.Equal(t, version, p.Version, name)
			require.True(t, strings.HasPrefix(p.Integrity, "sha512-"), name)
			require.Empty(t, p.Resolved, name)
		}
	}
}

func TestLinksStayInsideThePackage(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "native", "lib"), 0o755))
	list := filepath.Join(root, "native", "pg-symlinks.json")
	require.NoError(t, os.WriteFile(list,
		[]byte(`[{"source":"native/lib/libpq.so.5.18","target":"native/lib/libpq.so.5"}]`), 0o600))
	require.NoError(t, restoreLinks(root))
	require.NoError(t, restoreLinks(root), "twice")
	to, err := os.Readlink(filepath.Join(root, "native", "lib", "libpq.so.5"))
	require.NoError(t, err)
	require.Equal(t, "libpq.so.5.18", to)
	for _, bad := range []string{"../outside", "/etc/passwd", "scripts/x"} {
		require.NoError(t, os.WriteFile(list, []byte(`[{"source":"native/lib/a","target":"`+bad+`"}]`), 0o600))
		require.ErrorContains(t, restoreLinks(root), "leaves the package")
	}
}
