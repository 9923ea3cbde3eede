package engine

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"lodestone/pkg/engine/child"
	"lodestone/pkg/engine/install"
)

// The roles of the embedded PostgreSQL: the cluster's superuser, and Lodestone's, which owns the
// database.
const (
	postgresSuperuser = "postgres"
	postgresUser      = "lodestone"
	postgresDatabase  = "lodestone"
)

// PostgresConfig configure a PostgreSQL server.
type PostgresConfig struct {
	Runtime
	// Dir holds passwords and log, and the data unless the user that PostgreSQL runs as cannot
	// reach it (see owner.go).
	Dir string
	// Port is taken if it is free; 0 means any.
	Port int
	// NoSync trades the safety of the data for speed: for tests.
	NoSync bool
	// Settings are further settings of the server, as name=value: for tests.
	Settings []string
	// Installer provides the programs. Required.
	Installer *install.Installer
}

// Postgres is an embedded PostgreSQL server; it implements service.Service. The addresses are
// known after Start.
type Postgres struct {
	childEngine
	config    PostgresConfig
	programs  install.Postgres
	owner     *owner // nil: ours
	cluster   string // the directory of the data
	port      int
	passwords map[string]string
}

// NewPostgres returns a server that is not started yet.
func NewPostgres(c PostgresConfig) *Postgres { return &Postgres{config: c} }

// URL returns the address of the database "lodestone" as its owner, with the password.
func (p *Postgres) URL() string { return p.address(postgresUser, postgresDatabase) }

// AdminURL returns the address of the superuser, with the password: for tests that create
// databases.
func (p *Postgres) AdminURL() string { return p.address(postgresSuperuser, "postgres") }

func (p *Postgres) address(user, database string) string {
	return (&url.URL{Scheme: "postgres", User: url.UserPassword(user, p.passwords[user]), Host: address(p.port),
		Path: "/" + database, RawQuery: "sslmode=disable"}).String()
}

// Programs returns the directory of the programs of PostgreSQL that run the server.
func (p *Postgres) Programs() string { return p.programs.Bin }

// Start implements service.Service. It installs the programs if necessary.
func (p *Postgres) Start(ctx context.Context) error {
	lock, err := p.take()
	if err == nil {
		if err = p.prepare(ctx); err != nil {
			err = errors.Join(err, lock.Unlock())
		}
	}
	if err != nil {
		return fmt.Errorf("start PostgreSQL: %w", err)
	}
	return p.startOnPorts(lock, func() (*child.Process, error) { return p.launch(ctx) })
}

// take locks the directory.
func (p *Postgres) take() (lock *dirLock, err error) {
	if p.config.Dir, err = filepath.Abs(p.config.Dir); err != nil {
		return nil, err
	}
	if p.owner, err = serverOwner(); err != nil {
		return nil, err
	}
	mode := os.FileMode(0o700)
	if p.owner != nil {
		mode = 0o711 // another user passes through to its own directory below
	}
	return lockDir(p.config.Dir, mode)
}

// prepare finds the programs and creates the cluster if there is none.
func (p *Postgres) prepare(ctx context.Context) (err error) {
	if p.passwords, err = passwords(p.config.Dir, postgresSuperuser, postgresUser); err != nil {
		return err
	}
	home, err := p.owner.home(p.config.Dir, p.config.Log)
	if err != nil {
		return err
	}
	p.cluster = filepath.Join(home, "data")
	if p.programs, err = p.config.Installer.Postgres(ctx, clusterVersion(p.cluster)); err != nil {
		return err
	}
	p.config.Log.Info("using these programs of PostgreSQL", "directory", p.programs.Bin, "version",
		strconv.Itoa(p.programs.Major))
	if err := p.owner.reaches(p.programs.Bin); err != nil {
		return fmt.Errorf("%w: give --engine-cache a directory that every user can read", err)
	}
	if clusterVersion(p.cluster) != 0 {
		return nil
	}
	if p.programs.System {
		p.config.Log.Warn("the database is created by the PostgreSQL of this machine: keep this version installed, no other one opens the data",
			"version", strconv.Itoa(p.programs.Major), "directory", p.programs.Bin)
	}
	return p.initialise(ctx, home)
}

func (p *Postgres) launch(ctx context.Context) (*child.Process, error) {
	if err := child.StopStale(ctx, p.config.Dir, "postgres", p.config.Log); err != nil {
		return nil, err
	}
	if err := p.stopLeftServer(); err != nil {
		return nil, err
	}
	ports, err := choosePorts(p.config.Dir, map[string]int{"tcp": p.config.Port})
	if err != nil {
		return nil, err
	}
	p.port = ports["tcp"]
	process := child.New(child.Spec{
		Name: "postgres",
		Dir:  p.config.Dir,
		Command: func() *exec.Cmd {
			cmd := p.owner.command(p.cluster, p.program("postgres"), p.settings()...)
			cmd.Env = append(cmd.Env, p.config.Environment...)
			return cmd
		},
		Probe:    p.probe,
		Explain:  remedyFor,
		Hopeless: func(output string) bool { return strings.Contains(output, lostPassword) },
		Passing: func(output string) bool {
			return strings.Contains(output, leftProcesses) || strings.Contains(output, serverLeft)
		},
		DeathSignal: syscall.SIGINT, // a fast, clean end
		Stop: []child.Step{
			{Signal: syscall.SIGINT, Wait: 1500 * time.Millisecond},
			{Signal: syscall.SIGQUIT, Wait: 500 * time.Millisecond}, // as after a crash, which it survives
		},
		StartTimeout: 2 * time.Minute, // recovery after a crash may take its time
		Log:          p.config.Log,
		Observe:      p.config.Observe,
	})
	if err := process.Start(ctx); err != nil {
		return nil, err
	}
	if err := p.bootstrap(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start PostgreSQL: %w", err), process.Stop(context.WithoutCancel(ctx)))
	}
	return process, nil
}

func (p *Postgres) program(name string) string { return filepath.Join(p.programs.Bin, name) }

// settings suit a laptop. Connections are accepted on loopback only, and by password only.
func (p *Postgres) settings() []string {
	args := []string{"-D", p.cluster, "-p", strconv.Itoa(p.port)}
	values := []string{
		"listen_addresses=" + loopback,
		"unix_socket_directories=",
		"max_connections=100",
		"shared_buffers=64MB",
		"effective_cache_size=512MB",
		"work_mem=8MB",
		"maintenance_work_mem=64MB",
		"max_wal_size=512MB",
		"wal_level=minimal",
		"max_wal_senders=0",
		"password_encryption=scram-sha-256",
		"timezone=UTC",
		"log_timezone=UTC",
		"logging_collector=off",
		"log_min_messages=warning",
		"idle_in_transaction_session_timeout=5min",
	}
	if p.config.NoSync {
		values = append(values, "fsync=off", "full_page_writes=off", "synchronous_commit=off", "shared_buffers=32MB")
	}
	for _, v := range append(values, p.config.Settings...) {
		args = append(args, "-c", v)
	}
	return args
}

// probe connects as the superuser, who exists in a new cluster before Lodestone's role.
func (p *Postgres) probe(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, p.AdminURL())
	if err != nil {
		return err
	}
	return errors.Join(conn.Ping(ctx), conn.Close(ctx))
}

// clusterVersion returns the major version that created a cluster, 0 if there is none.
func clusterVersion(cluster string) int {
	text, err := os.ReadFile(filepath.Join(cluster, "PG_VERSION"))
	if err != nil {
		return 0
	}
	major, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return major
}
