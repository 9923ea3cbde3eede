package enginetest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/gofrs/flock"
)

// Launcher returns the program that runs ClickHouse's library. It builds it from this module unless
// it was built from the same source before.
func Launcher(t testing.TB) string {
	t.Helper()
	path, err := buildLauncher(Installer(t).Cache)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Root returns the directory of this module.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "cmd", "lodestone-clickhouse", "main.go")); err == nil {
			return dir, nil
		}
	}
	return "", errors.New("the working directory is not inside the module")
}

func buildLauncher(cache string) (path string, err error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	// go.sum stands for the versions of what the launcher imports.
	sources := []string{"go.sum", "cmd/lodestone-clickhouse/main.go", "cmd/lodestone-clickhouse/launcher.go"}
	h := sha256.New()
	h.Write([]byte(runtime.Version()))
	for _, name := range sources {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return "", err
		}
		h.Write(text)
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	path = filepath.Join(cache, "launcher-"+hex.EncodeToString(h.Sum(nil))[:12])
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	lock := flock.New(filepath.Join(cache, "launcher.lock"))
	if err := lock.Lock(); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", path+".new", "./cmd/lodestone-clickhouse")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		return "", errors.New("build the ClickHouse launcher: " + string(output))
	}
	return path, os.Rename(path+".new", path)
}
