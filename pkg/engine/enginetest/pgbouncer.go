package enginetest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"lodestone/pkg/engine"
	"lodestone/pkg/engine/child"
)

// PgBouncer starts a PgBouncer in transaction mode before the database of an address, and returns its address. It has
// so few connections to Postgres that clients take turns on each of them.
func PgBouncer(t testing.TB, database string) string {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		t.Fatal("pgbouncer is missing: install it (Debian's package pgbouncer), or run make setup")
	}
	target, dir, port := parse(t, database), Dir(t), FreePort(t)
	if err := writePgBouncer(dir, target, port, pgBouncerNamesStatements(t, program)); err != nil {
		t.Fatal(err)
	}
	if _, err := engine.ServerCommand(dir, program); err != nil {
		t.Fatal(err)
	}
	pooled := *target
	pooled.Host = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	Run(t, child.New(child.Spec{
		Name: "pgbouncer",
		Dir:  dir,
		Command: func() *exec.Cmd {
			cmd, _ := engine.ServerCommand(dir, program, filepath.Join(dir, "pgbouncer.ini")) // it refuses to run as root
			return cmd
		},
		DeathSignal: syscall.SIGTERM,
		Stop:        []child.Step{{Signal: syscall.SIGTERM, Wait: 5 * time.Second}},
		Log:         Runtime().Log,
		Probe: func(ctx context.Context) error {
			conn, err := pgx.Connect(ctx, pooled.String())
			if err != nil {
				return err
			}
			return errors.Join(conn.Ping(ctx), conn.Close(ctx))
		},
	}))
	return pooled.String()
}

// writePgBouncer writes the settings. Whoever can connect to the loopback is the owner of the database.
func writePgBouncer(dir string, target *url.URL, port int, named bool) error {
	password, _ := target.User.Password()
	name := filepath.Base(target.Path)
	text := fmt.Sprintf(`[databases]
%s = host=%s port=%s user=%s password=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 6
max_client_conn = 500
query_wait_timeout = 60
`, name, target.Hostname(), target.Port(), target.User.Username(), password, port)
	if named {
		text += "max_prepared_statements = 200\n"
	}
	// The user that PgBouncer runs as reads it.
	return os.WriteFile(filepath.Join(dir, "pgbouncer.ini"), []byte(text), 0o644)
}

var pgBouncerVersion = regexp.MustCompile(`PgBouncer 1\.(\d+)`)

// pgBouncerNamesStatements reports whether PgBouncer keeps statements with names, as it does since version 1.21.
func pgBouncerNamesStatements(t testing.TB, program string) bool {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	found := pgBouncerVersion.FindSubmatch(out)
	if found == nil {
		return true // 2 or newer
	}
	minor, err := strconv.Atoi(string(found[1]))
	return err == nil && minor >= 21
}
