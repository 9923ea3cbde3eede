package enginetest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"lodestone/pkg/engine"
	"lodestone/pkg/engine/child"
)

// Replicated is a PostgreSQL server of the test's own with a replica that follows it.
type Replicated struct {
	Primary *engine.Postgres
	// URL and AdminURL are the addresses of the replica, of Lodestone's role and of the superuser.
	URL, AdminURL string
	// StopReplica stops the replica before the end of the test.
	StopReplica func()
}

// NewReplicated starts both.
func NewReplicated(t testing.TB) *Replicated {
	t.Helper()
	dir := Dir(t)
	r := &Replicated{Primary: engine.NewPostgres(engine.PostgresConfig{
		Runtime: Runtime(), Dir: filepath.Join(dir, "primary"), Port: FreePort(t), NoSync: true, Installer: Installer(t),
		Settings: []string{"wal_level=replica", "max_wal_senders=4", "wal_keep_size=64MB", "synchronous_commit=on"},
	})}
	Run(t, r.Primary)
	if err := allowReplication(t.Context(), r.Primary.AdminURL()); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "replica")
	if err := engine.MakeServerDir(home); err != nil {
		t.Fatal(err)
	}
	data, port := filepath.Join(home, "data"), FreePort(t)
	backup, err := engine.ServerCommand(home, program(t, r.Primary, "pg_basebackup"),
		"--dbname="+r.Primary.AdminURL(), "--pgdata="+data, "--write-recovery-conf", "--checkpoint=fast", "--wal-method=stream", "--no-sync")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := backup.CombinedOutput(); err != nil {
		t.Fatalf("copy the server: %v: %s", err, out)
	}
	moved := func(address string) string {
		u := parse(t, address)
		u.Host = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		return u.String()
	}
	r.URL, r.AdminURL = moved(r.Primary.URL()), moved(r.Primary.AdminURL())
	server := program(t, r.Primary, "postgres")
	r.StopReplica = Run(t, child.New(child.Spec{
		Name: "replica",
		Dir:  dir,
		Command: func() *exec.Cmd {
			cmd, _ := engine.ServerCommand(home, server, "-D", data, "-p", strconv.Itoa(port),
				"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "fsync=off", "-c", "max_connections=100", "-c", "shared_buffers=32MB")
			return cmd
		},
		DeathSignal: syscall.SIGINT,
		Stop:        []child.Step{{Signal: syscall.SIGINT, Wait: 5 * time.Second}, {Signal: syscall.SIGQUIT, Wait: time.Second}},
		Log:         Runtime().Log,
		Probe: func(ctx context.Context) error {
			conn, err := pgx.Connect(ctx, r.AdminURL)
			if err != nil {
				return err
			}
			return errors.Join(conn.Ping(ctx), conn.Close(ctx))
		},
	}))
	return r
}

// allowReplication lets the superuser copy the server.
func allowReplication(ctx context.Context, admin string) (err error) {
	conn, err := pgx.Connect(ctx, admin)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	var rules string
	if err := conn.QueryRow(ctx, "SHOW hba_file").Scan(&rules); err != nil {
		return err
	}
	file, err := os.OpenFile(rules, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString("host replication all 127.0.0.1/32 scram-sha-256\n")
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "SELECT pg_reload_conf()")
	return err
}

// program returns the path of one of PostgreSQL's programs: that of the server, else that of the machine.
func program(t testing.TB, server *engine.Postgres, name string) string {
	t.Helper()
	path := filepath.Join(server.Programs(), name)
	if _, err := os.Stat(path); err == nil {
		return path
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(fmt.Errorf("%s is missing: install PostgreSQL's programs (Debian's package postgresql): %w", name, err))
	}
	return path
}

// Exec runs a statement as the superuser, on the primary or on the replica.
func (r *Replicated) Exec(t testing.TB, replica bool, statement string) {
	t.Helper()
	address := r.Primary.AdminURL()
	if replica {
		address = r.AdminURL
	}
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.Exec(t.Context(), statement)
	if err := errors.Join(err, conn.Close(t.Context())); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}
