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

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/engine"
	"lodestone/pkg/postgres"
	"lodestone/pkg/service"
)

// templateDatabase has the current schema, in every cluster that copyCluster makes.
const templateDatabase = "lodestone_template"

// template is the directory of a stopped server with the current schema, made once and kept in the
// checkout's .cache. A copy of it takes a tenth of the processor time of the migrations, which
// forty packages would run.
type template struct {
	name   string // its directory's begins with it
	engine string // that is installed
	pkg    string // the package of its schema
	make   func(dir string) error
}

// RunPostgres starts a server of the test's own and returns the address of a database in it with
// the current schema. The end of the test stops the server, unless the test has called stop.
func RunPostgres(t testing.TB) (server *engine.Postgres, url string, stop func()) {
	t.Helper()
	dir := filepath.Join(Dir(t), "postgres")
	if err := copyCluster(t, dir); err != nil {
		t.Fatal(err)
	}
	server = NewPostgres(t, dir)
	stop = Run(t, server)
	return server, databaseURL(t, server, templateDatabase), stop
}

// copyCluster makes dir the directory of a stopped PostgreSQL with templateDatabase.
func copyCluster(t testing.TB, dir string) error {
	t.Helper()
	programs, err := Installer(t).Postgres(context.Background(), 0)
	if err != nil {
		return err
	}
	return template{name: "postgres", engine: fmt.Sprintln(programs.Major, programs.Bin), pkg: "postgres",
		make: func(dir string) error {
			server := NewPostgres(t, dir)
			return whileRunning(server, func(ctx context.Context) error {
				execPostgres(t, server, "CREATE DATABASE "+templateDatabase+" OWNER lodestone")
				return migrate(ctx, databaseURL(t, server, templateDatabase))
			})
		}}.copy("", dir)
}

// copyClickHouse makes dir the directory of a stopped ClickHouse with the current schema. It is no
// shard yet.
func copyClickHouse(t testing.TB, dir string) error {
	t.Helper()
	programs, err := Installer(t).ClickHouse(context.Background())
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return template{name: "clickhouse", engine: fmt.Sprintln(programs), pkg: "clickhouse", make: func(dir string) error {
		server := NewClickHouse(t, dir)
		return whileRunning(server, func(ctx context.Context) error {
			if _, err := clickhouse.Migrate(ctx, clickhouse.Config{URL: server.URL()}); err != nil {
				return err
			}
			for _, statement := range []string{
				"TRUNCATE TABLE lodestone.shard",
				// One part and not one a migration: the files of the others were most of what is copied.
				"CREATE TABLE lodestone.versions AS lodestone.goose_db_version",
				"INSERT INTO lodestone.versions SELECT * FROM lodestone.goose_db_version",
				"EXCHANGE TABLES lodestone.versions AND lodestone.goose_db_version",
				"DROP TABLE lodestone.versions SYNC",
			} {
				execClickHouse(t, server, statement)
			}
			return nil
		})
	}}.copy("data", filepath.Join(dir, "data"))
}

// whileRunning starts a server, and stops it after do.
func whileRunning(server service.Service, do func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	if err := server.Start(ctx); err != nil {
		return err
	}
	return errors.Join(do(ctx), server.Stop(ctx))
}

// copy copies the template, or a folder of it.
func (t template) copy(folder, to string) error {
	root, err := Root()
	if err != nil {
		return err
	}
	key, err := t.key(root)
	if err != nil {
		return err
	}
	kept := filepath.Join(root, ".cache", t.name+"-"+key)
	if _, err := os.Stat(kept); errors.Is(err, fs.ErrNotExist) {
		if err := t.keep(kept); err != nil {
			return fmt.Errorf("make the directory that tests copy: %w", err)
		}
	} else if err != nil {
		return err
	}
	return CopyDir(filepath.Join(kept, folder), to)
}

// keep makes the directory that copy copies. Several processes may: the first one's stays.
func (t template) keep(kept string) (err error) {
	dir, err := tempDir()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.RemoveDir(dir)) }()
	if err := t.make(filepath.Join(dir, t.name)); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(filepath.Dir(kept), t.name+"-*"))
	if err != nil {
		return err
	}
	for _, dir := range old {
		if dir != kept && !strings.HasPrefix(filepath.Base(dir),
			t.name+"-new-") { // of processes that were faster, or still make it
			err = errors.Join(err, engine.RemoveDir(dir))
		}
	}
	if err := errors.Join(err, os.MkdirAll(filepath.Dir(kept), 0o755)); err != nil {
		return err
	}
	fresh, err := os.MkdirTemp(filepath.Dir(kept), t.name+"-new-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.RemoveDir(fresh)) }()
	if err := CopyDir(filepath.Join(dir, t.name), filepath.Join(fresh, t.name)); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(fresh, t.name), kept); err != nil && !errors.Is(err, fs.ErrExist) {
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

// key stands for everything that the template depends on.
func (t template) key(root string) (string, error) {
	hash := sha256.New()
	hash.Write([]byte(t.engine))
	for _, part := range []string{t.pkg, "engine"} {
		err := fs.WalkDir(os.DirFS(filepath.Join(root, "pkg", part)), ".",
			func(name string, entry fs.DirEntry, err error) error {
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

// CopyDir copies a directory of a stopped engine, or of several, with the owners of its files: a
// server's belong to another user if root runs the test. The copy has no ports: an engine takes
// those of its last start, and a test that restarts one would meet another copy there.
func CopyDir(from, to string) error {
	if out, err := exec.CommandContext(context.Background(), "cp", "-a", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("copy %s: %w: %s", from, err, out)
	}
	for _, pattern := range []string{"ports.json", "*/ports.json"} {
		files, err := filepath.Glob(filepath.Join(to, pattern))
		if err != nil {
			return err
		}
		for _, file := range files {
			if err := os.Remove(file); err != nil {
				return err
			}
		}
	}
	return nil
}
