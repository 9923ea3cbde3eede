package enginetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lodestone/pkg/engine"
	"lodestone/pkg/postgres"
)

// templateDatabase has the current schema, in every cluster that copyCluster makes.
const templateDatabase = "lodestone_template"

// copyCluster makes dir the directory of a stopped server with templateDatabase. It copies one that is made once for the
// programs of PostgreSQL and the code that creates and migrates a database, and kept in the checkout's .cache: to create a
// cluster and migrate a database takes forty packages four seconds of processor time each, a copy a tenth of one.
func copyCluster(t testing.TB, dir string) error {
	t.Helper()
	root, err := Root()
	if err != nil {
		return err
	}
	key, err := clusterKey(t, root)
	if err != nil {
		return err
	}
	kept := filepath.Join(root, ".cache", "postgres-"+key)
	if _, err := os.Stat(kept); errors.Is(err, fs.ErrNotExist) {
		if err := makeCluster(t, kept); err != nil {
			return fmt.Errorf("make the cluster that tests copy: %w", err)
		}
	} else if err != nil {
		return err
	}
	return CopyDir(kept, dir)
}

// makeCluster makes the directory that copyCluster copies. Several processes may: the first one's stays.
func makeCluster(t testing.TB, kept string) (err error) {
	t.Helper()
	dir, err := tempDir()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.RemoveDir(dir)) }()
	server := NewPostgres(t, filepath.Join(dir, "postgres"))
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	if err := server.Start(ctx); err != nil {
		return err
	}
	execPostgres(t, server, "CREATE DATABASE "+templateDatabase+" OWNER lodestone")
	err = migrate(ctx, databaseURL(t, server, templateDatabase))
	if err := errors.Join(err, server.Stop(ctx)); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(filepath.Dir(kept), "postgres-*"))
	if err != nil {
		return err
	}
	for _, dir := range old {
		if !strings.HasPrefix(filepath.Base(dir), "postgres-new-") { // of a process that makes it, too
			err = errors.Join(err, engine.RemoveDir(dir))
		}
	}
	if err := errors.Join(err, os.MkdirAll(filepath.Dir(kept), 0o755)); err != nil {
		return err
	}
	fresh, err := os.MkdirTemp(filepath.Dir(kept), "postgres-new-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.RemoveDir(fresh)) }()
	if err := CopyDir(filepath.Join(dir, "postgres"), filepath.Join(fresh, "postgres")); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(fresh, "postgres"), kept); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

func migrate(ctx context.Context, url string) error {
	pool, err := postgres.Open(ctx, postgres.Config{URL: url, MaxConns: 2})
	if err != nil {
		return err
	}
	defer pool.Close()
	_, err = pool.Migrate(ctx)
	return err
}

// clusterKey stands for everything that a cluster and its schema depend on.
func clusterKey(t testing.TB, root string) (string, error) {
	t.Helper()
	programs, err := Installer(t).Postgres(context.Background(), 0)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	hash.Write(fmt.Appendln(nil, programs.Major, programs.Bin))
	for _, part := range []string{"postgres", "engine"} {
		err := fs.WalkDir(os.DirFS(filepath.Join(root, "pkg", part)), ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.HasSuffix(name, "_test.go") {
				return err
			}
			text, err := os.ReadFile(filepath.Join(root, "pkg", part, name))
			hash.Write(fmt.Appendln(nil, name, len(text)))
			hash.Write(text)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(hash.Sum(nil)[:8]), nil
}

// CopyDir copies a directory with the owners of its files: a server's belong to another user if root runs the test.
func CopyDir(from, to string) error {
	if out, err := exec.CommandContext(context.Background(), "cp", "-a", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("copy %s: %w: %s", from, err, out)
	}
	return nil
}
