// Package pgbouncer runs a PgBouncer in transaction mode for tests and for the lab, from the
// program of the system.
package pgbouncer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"lodestone/pkg/engine"
	"lodestone/pkg/engine/child"
)

// Config selects the database and the pool.
type Config struct {
	engine.Runtime
	// Dir holds the configuration and the log. The user that PostgreSQL servers run as passes through.
	Dir string
	// Database is the address of the database.
	Database string
	// Port to listen on.
	Port int
	// Pool is the number of connections to Postgres. Default 6: so few that clients take turns on each
	// of them.
	Pool int
}

// Pooler is a PgBouncer; it implements service.Service. One that dies is started again.
type Pooler struct {
	*child.Process
	url string
}

// ErrMissing says that the system has no PgBouncer.
var ErrMissing = errors.New("pgbouncer is missing: install it (Debian's package pgbouncer), or run make setup")

// New returns a PgBouncer that is not started yet.
func New(c Config) (*Pooler, error) {
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		return nil, ErrMissing
	}
	target, err := url.Parse(c.Database)
	if err != nil {
		return nil, errors.New("parse the address of the database") // the cause would repeat the password
	}
	if err := c.write(target); err != nil {
		return nil, err
	}
	if _, err := engine.ServerCommand(c.Dir, program); err != nil {
		return nil, err
	}
	pooled := *target
	pooled.Host = net.JoinHostPort("127.0.0.1", strconv.Itoa(c.Port))
	parameters := pooled.Query()
	parameters.Set("default_query_exec_mode", "cache_describe")
	pooled.RawQuery = parameters.Encode()
	return &Pooler{url: pooled.String(), Process: child.New(child.Spec{
		Name: "pgbouncer",
		Dir:  c.Dir,
		Command: func() *exec.Cmd {
			cmd, _ := engine.ServerCommand(c.Dir, program, filepath.Join(c.Dir, "pgbouncer.ini")) // it refuses to run as root
			return cmd
		},
		DeathSignal: syscall.SIGTERM,
		Stop:        []child.Step{{Signal: syscall.SIGTERM, Wait: 5 * time.Second}},
		Log:         c.Log,
		Probe: func(ctx context.Context) error {
			conn, err := pgx.Connect(ctx, pooled.String())
			if err != nil {
				return err
			}
			return errors.Join(conn.Ping(ctx), conn.Close(ctx))
		},
	})}, nil
}

// URL returns the address of the database through the pool, with the parameter that poolers need.
func (p *Pooler) URL() string { return p.url }

// write writes the settings. Whoever can connect to the loopback is the owner of the database.
func (c Config) write(target *url.URL) error {
	password, _ := target.User.Password()
	text := fmt.Sprintf(`[databases]
%s = host=%s port=%s user=%s password=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = %d
max_client_conn = 500
query_wait_timeout = 60
`, filepath.Base(target.Path), target.Hostname(), target.Port(), target.User.Username(), password, c.Port, cmp.Or(c.Pool, 6))
	// The user that PgBouncer runs as reads it.
	return os.WriteFile(filepath.Join(c.Dir, "pgbouncer.ini"), []byte(text), 0o644)
}
