package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
)

// initialise creates a cluster beside its final place and moves it there when it is complete, so
// that an interrupted start is simply repeated.
func (p *Postgres) initialise(ctx context.Context, home string) (err error) {
	scratch := filepath.Join(home, "data.new")
	if err := os.RemoveAll(scratch); err != nil {
		return explainFile(err)
	}
	secret := filepath.Join(home, "password.new")
	if err := writeFile(secret, []byte(p.passwords[postgresSuperuser]+"\n")); err != nil {
		return explainFile(err)
	}
	defer func() { err = errors.Join(err, os.Remove(secret)) }()
	if err := p.owner.give(secret); err != nil {
		return err
	}
	args := append([]string{
		"-D", scratch, "-U", postgresSuperuser, "--pwfile=" + secret, "--auth=scram-sha-256", "-E", "UTF8",
		"--no-instructions", "--no-sync",
	}, locale(p.programs.Major)...)
	cmd := p.owner.command(home, p.program("initdb"), args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		output := strings.TrimSpace(string(out))
		return fmt.Errorf("create the database cluster (%w): %s\n%s", err, remedyFor(output), output)
	}
	rules := "host all all 127.0.0.1/32 scram-sha-256\n" //nolint:dupword // every database, every role
	if err := os.WriteFile(filepath.Join(scratch, "pg_hba.conf"), []byte(rules), 0o600); err != nil {
		return explainFile(err)
	}
	if !p.config.NoSync {
		out, err := p.owner.command(home, p.program("initdb"), "-D", scratch, "--sync-only").CombinedOutput()
		if err != nil {
			return fmt.Errorf("write the database cluster to the disk (%w): %s", err, out)
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return os.Rename(scratch, p.cluster)
}

// locale knows upper and lower case of every letter, and orders texts by their bytes. Since version
// 17, PostgreSQL has such a locale itself; before, a machine without the locale C.UTF-8 cannot
// create a database.
func locale(major int) []string {
	switch {
	case major >= 17:
		return []string{"--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"}
	case runtime.GOOS == "darwin":
		return []string{"--locale=C", "--lc-ctype=UTF-8"}
	default:
		return []string{"--locale=C", "--lc-ctype=C.UTF-8"}
	}
}

// bootstrap creates Lodestone's role and its database unless they exist.
func (p *Postgres) bootstrap(ctx context.Context) (err error) {
	done := filepath.Join(p.cluster, "lodestone.ready")
	if _, err := os.Stat(done); err == nil {
		return nil
	}
	conn, err := pgx.Connect(ctx, p.AdminURL())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	exists := func(query string) (yes bool, err error) {
		err = conn.QueryRow(ctx, query).Scan(&yes)
		return yes, err
	}
	role, err := exists("SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = '" + postgresUser + "')")
	if err != nil {
		return fmt.Errorf("look for our role: %w", err)
	}
	verb := "CREATE"
	if role {
		verb = "ALTER"
	}
	// The password is random letters and digits: it needs no quoting.
	if _, err := conn.Exec(ctx, verb+" ROLE "+postgresUser+" LOGIN CREATEROLE PASSWORD '"+
		p.passwords[postgresUser]+"'"); err != nil {
		return fmt.Errorf("make our role: %w", err)
	}
	database, err := exists("SELECT EXISTS (SELECT FROM pg_database WHERE datname = '" + postgresDatabase + "')")
	if err != nil {
		return fmt.Errorf("look for our database: %w", err)
	}
	if !database {
		if _, err := conn.Exec(ctx, "CREATE DATABASE "+postgresDatabase+" OWNER "+postgresUser); err != nil {
			return fmt.Errorf("make our database: %w", err)
		}
	}
	if err := os.WriteFile(done, nil, 0o600); err != nil {
		return err
	}
	return p.owner.give(done) // pg_basebackup reads all files of the cluster
}

// stopLeftServer stops a server that an earlier run left on the cluster without a record: its
// parent was killed before it could write one. PostgreSQL's pid file names the process. The start
// is retried until that process has ended. A pid file without a number is left by a server that was
// killed while it started; PostgreSQL would refuse to start until it is removed.
func (p *Postgres) stopLeftServer() error {
	path := filepath.Join(p.cluster, "postmaster.pid")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil || pid <= 1 {
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("remove what a server left that was killed while it started: %w", err)
		}
		return nil
	}
	// A server's working directory is its cluster; no other process that reuses the pid has it.
	cluster, err := filepath.EvalSymlinks(p.cluster)
	if err != nil {
		return fmt.Errorf("find the cluster: %w", err)
	}
	dir, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid)) // "" if the process has ended or belongs to another user
	if dir != cluster {
		return nil
	}
	p.config.Log.Warn("stopping a PostgreSQL left over from an earlier run", "pid", pid)
	if err := syscall.Kill(pid, syscall.SIGINT); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop the left-over PostgreSQL (process %d): %w", pid, err)
	}
	return nil
}
