package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// enterable is a directory that the user of Postgres can enter.
func enterable(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "lodestone-root-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755))
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// unpack writes a tar below a directory.
func unpack(t *testing.T, from io.Reader, dir string) {
	t.Helper()
	r := tar.NewReader(from)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
		require.True(t, filepath.IsLocal(h.Name), h.Name)
		path := filepath.Join(dir, h.Name)
		if h.Typeflag == tar.TypeDir {
			require.NoError(t, os.MkdirAll(path, 0o755))
			continue
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, os.FileMode(h.Mode).Perm())
		require.NoError(t, err)
		_, err = io.Copy(file, r)
		require.NoError(t, errors.Join(err, file.Close()))
	}
}

// onlyPath is a PATH with these programs: what is installed on this machine for building is not on
// it.
func onlyPath(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		path, err := exec.LookPath(name)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(path, filepath.Join(dir, name)))
	}
	return dir
}

type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// A machine without compilers unpacks the archive and has Lodestone running. npm brings the
// engines.
func TestTheArchiveRunsWithoutCompilers(t *testing.T) {
	source := releases(t)[0]
	root := enterable(t)
	z, err := gzip.NewReader(bytes.NewReader(readFile(t, filepath.Join(source, archiveName("tar.gz")))))
	require.NoError(t, err)
	unpack(t, z, root)
	prefix := filepath.Join(root, strings.TrimSuffix(archiveName("tar.gz"), ".tar.gz"))
	for _, name := range []string{
		"bin/lodestone-clickhouse", "share/man/man1/lodestone.1", "share/man/man5/lodestone.5",
		"share/bash-completion/completions/lodestone", "share/zsh/site-functions/_lodestone",
		"share/fish/vendor_completions.d/lodestone.fish", "lib/systemd/system/lodestone-collector.service",
		"share/doc/lodestone/LICENSE",
		"share/doc/lodestone/sbom.cdx.json", "etc/lodestone/lodestone.env",
	} {
		require.FileExists(t, filepath.Join(prefix, name))
	}
	program := filepath.Join(prefix, "bin", "lodestone")
	env := []string{"PATH=" + onlyPath(t, "npm", "node", "sh"), "HOME=" + root, "TMPDIR=" + os.TempDir()}
	for _, tool := range []string{"go", "gcc", "cc", "make", "git"} {
		require.NoFileExists(t, filepath.Join(strings.TrimPrefix(env[0], "PATH="), tool))
	}
	version := exec.CommandContext(t.Context(), program, "version")
	version.Env = env
	out, err := version.Output()
	require.NoError(t, err)
	require.Contains(t, string(out), "lodestone 0.1.0\n")
	require.Contains(t, string(out), built.commit)

	requireUp(t, root, func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Env, cmd.Dir = env, root
		return cmd
	})
}

// requireUp runs `lodestone up` until it is ready, and stops it.
func requireUp(t *testing.T, data string, command func(args ...string) *exec.Cmd, more ...string) {
	t.Helper()
	admin := freeAddress(t)
	cmd := command(append([]string{
		"up", "--data", filepath.Join(data, "data"), "--listen", freeAddress(t), "--collector-listen", freeAddress(t),
		"--admin-listen", admin, "--postgres-port=0", "--kafka-port=0", "--clickhouse-port=0", "--clickhouse-http-port=0",
	}, more...)...)
	var printed output
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &printed, &printed, 5*time.Second
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // it may have ended
	require.Eventually(t, func() bool {
		select {
		case err := <-ended:
			ended <- err
			return true
		default:
			return strings.Contains(printed.String(), "Ctrl-C stops everything")
		}
	}, 15*time.Minute, 50*time.Millisecond, "%s", &printed)
	require.Contains(t, printed.String(), "Ctrl-C stops everything")
	require.Contains(t, printed.String(), "0.1.0")
	require.Eventually(t, func() bool { // an answer of an engine may be late
		status, text := get(t, "http://"+admin+"/readyz")
		return status == http.StatusOK && strings.Contains(text, `"ready":true`)
	}, 5*time.Minute, 50*time.Millisecond, "%s", &printed)
	status, metrics := get(t, "http://"+admin+"/metrics")
	require.Equal(t, http.StatusOK, status, "%s", metrics)
	require.Contains(t, metrics, `lodestone_build_info{block_rules="3",commit="`+built.commit+`"`)
	require.Contains(t, metrics, `version="0.1.0"} 1`)
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	select {
	case err := <-ended:
		require.NoError(t, err, "%s", &printed)
	case <-time.After(2 * time.Minute):
		require.Fail(t, "lodestone up does not stop", "%s", &printed)
	}
}

// A machine that has nothing but the C library and a shell, no network to a registry, and the
// directory of the engines from another machine.
func TestTheArchiveRunsOnABareMachine(t *testing.T) {
	require.Zero(t, os.Geteuid(), "the test needs root, to lay out a machine of its own")
	source := releases(t)[0]
	root := enterable(t)
	z, err := gzip.NewReader(bytes.NewReader(readFile(t, filepath.Join(source, archiveName("tar.gz")))))
	require.NoError(t, err)
	unpack(t, z, root)
	require.NoError(t, os.Rename(filepath.Join(root, strings.TrimSuffix(archiveName("tar.gz"), ".tar.gz")),
		filepath.Join(root, "lodestone")))
	cache := cmp.Or(os.Getenv("LODESTONE_ENGINE_CACHE"), "/var/cache/lodestone") // as other tests have it
	prepare := exec.CommandContext(t.Context(), filepath.Join(root, "lodestone", "bin", "lodestone"),
		"engines", "--engine-cache", cache)
	out, err := prepare.CombinedOutput()
	require.NoError(t, err, "%s", out)

	libraries := map[string]bool{"/lib64/ld-linux-x86-64.so.2": true, "/bin/sh": true}
	for _, name := range []string{"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1",
		"libstdc++.so.6", "libgcc_s.so.1"} {
		libraries["/lib/x86_64-linux-gnu/"+name] = true
	}
	for path := range libraries {
		require.NoError(t, os.MkdirAll(filepath.Join(root, filepath.Dir(path)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, path), readFile(t, path), 0o755))
	}
	for _, dir := range []string{"proc", "dev", "tmp", "engines", "home", "etc"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	require.NoError(t, os.Chmod(filepath.Join(root, "tmp"), 0o777|os.ModeSticky))
	require.NoError(t, os.WriteFile(filepath.Join(root, "etc/passwd"),
		[]byte("root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(root, "etc/group"), []byte("root:x:0:\nnogroup:x:65534:\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(root, "etc/hosts"), []byte("127.0.0.1 localhost\n"), 0o644))

	// The mounts are in a namespace of the process, and go with it.
	const enter = `set -e
mount --rbind /proc "$1/proc"
mount --rbind /dev "$1/dev"
mount --bind -o ro "$2" "$1/engines"
root=$1; shift 2
exec chroot "$root" /lodestone/bin/lodestone "$@"`
	requireUp(t, "/home", func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "unshare",
			append([]string{"--mount", "sh", "-c", enter, "sh", root, cache}, args...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/home"}
		return cmd
	}, "--engine-cache", "/engines")
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return l.Addr().String()
}

func get(t *testing.T, url string) (status int, text string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, errors.Join(err, response.Body.Close()))
	return response.StatusCode, string(body)
}

// The package installs into an empty root and goes without a trace but the settings, which a purge
// removes. systemd has nothing against its units.
func TestTheDebianPackage(t *testing.T) {
	dpkg, err := exec.LookPath("dpkg")
	require.NoError(t, err, "dpkg is missing: install Debian's package dpkg")
	source := releases(t)[0]
	root := enterable(t)
	admindir := filepath.Join(root, "var/lib/dpkg")
	require.NoError(t, os.MkdirAll(filepath.Join(admindir, "info"), 0o755))
	for _, name := range []string{"status", "available"} {
		require.NoError(t, os.WriteFile(filepath.Join(admindir, name), nil, 0o600))
	}
	run := func(args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), dpkg, append([]string{"--force-not-root", "--root=" + root},
			args...)...).CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	run("--install", filepath.Join(source, archiveName("deb")))
	require.Contains(t, run("--status", "lodestone"), "Version: 0.1.0")
	settings := filepath.Join(root, "etc/lodestone/lodestone.env")
	info, err := os.Stat(settings)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "it will hold secrets")
	out, err := exec.CommandContext(t.Context(), filepath.Join(root, "usr/bin/lodestone"), "version").Output()
	require.NoError(t, err)
	require.Contains(t, string(out), "lodestone 0.1.0\n")
	requireUnits(t, root)

	// What the owner wrote outlives an upgrade.
	require.NoError(t, os.WriteFile(settings, []byte("LODESTONE_LOG_FORMAT=json\n"), 0o600))
	run("--install", filepath.Join(source, archiveName("deb")))
	require.Equal(t, "LODESTONE_LOG_FORMAT=json\n", string(readFile(t, settings)))
	run("--purge", "lodestone")
	require.NoFileExists(t, settings)
	require.NoFileExists(t, filepath.Join(root, "usr/bin/lodestone"))
}

// requireUnits lets systemd check the units that are installed below a root.
func requireUnits(t *testing.T, root string) {
	t.Helper()
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Log("systemd is not on this machine: the units are not checked")
		return
	}
	units := filepath.Join(root, "usr/lib/systemd/system")
	targets, err := filepath.Glob("/usr/lib/systemd/system/*.target")
	require.NoError(t, err)
	require.NotEmpty(t, targets)
	for _, target := range targets { // those that units name
		require.NoError(t, os.WriteFile(filepath.Join(units, filepath.Base(target)), readFile(t, target), 0o600))
	}
	out, err := exec.CommandContext(t.Context(), "systemd-sysusers", "--root="+root).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Regexp(t, `(?m)^lodestone:`, string(readFile(t, filepath.Join(root, "etc/group"))))
	for _, name := range processes {
		unit := "lodestone-" + name + ".service"
		cmd := exec.CommandContext(t.Context(), tool, "verify", "--root="+root, "--man=no", unit)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.NotContains(t, string(out), unit, "%s", out)
		// From 0 to 10, where 10 is everything allowed.
		out, err = exec.CommandContext(t.Context(), tool, "security", "--root="+root, "--offline=true", "--no-pager",
			"--threshold=20", unit).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
}
