package enginetest

import (
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/engine"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
)

// Stack holds the engines of ingestion: a broker with Lodestone's topics and a Postgres database,
// both of the test's own, and the ClickHouse that the tests of a package share. All have the
// current schema.
type Stack struct {
	Kafka      kafka.Config
	Broker     *engine.Kafka // nil if the brokers were given
	Client     *kgo.Client   // produces to the partition that a record names
	TopicID    uuid.UUID     // of the topic of events
	ClickHouse clickhouse.Config
	Conn       driver.Conn
	Postgres   *postgres.Pool
	// PostgresURL is the address of the same database.
	PostgresURL string

	t testing.TB
}

// StackConfig selects the engines of a stack.
type StackConfig struct {
	// Partitions of each topic.
	Partitions int32
	// Brokers are those of a Kafka that runs. Default: a broker of the test's own.
	Brokers []string
	// ClickHouse is the native address of a server of the test's own. Default: the shared one.
	ClickHouse string
	// Shards are used instead of one server.
	Shards *Shards
	// SharedPostgres stands for SharedPostgres instead of a database of the test's own.
	SharedPostgres bool
}

// Shards are two or more servers of the test's own that store events together.
type Shards struct {
	Servers []*engine.ClickHouse
	Config  clickhouse.Config
	Dirs    []string // of the servers
	Backups string   // where all of them may write backups
}

// NewShards returns n migrated shards, whose cluster has all of them; the end of the test stops
// them.
func NewShards(t testing.TB, n int) *Shards {
	t.Helper()
	s := &Shards{Backups: Dir(t)}
	ports, addresses := make([]int, n), make([]string, n)
	for i := range n {
		ports[i] = FreePort(t)
		addresses[i] = net.JoinHostPort("127.0.0.1", strconv.Itoa(ports[i]))
	}
	for i := range n {
		dir := Dir(t)
		if err := copyClickHouse(t, dir); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "passwords.json"),
			[]byte(`{"lodestone":"of all shards","analyst":"of the analyst"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		server := engine.NewClickHouse(engine.ClickHouseConfig{
			Runtime: Runtime(), Dir: dir, TCPPort: ports[i], HTTPPort: FreePort(t), MemoryBytes: ClickHouseMemory,
			Launcher: Launcher(t), Installer: Installer(t), Cluster: addresses,
			Backups: s.Backups,
		})
		Run(t, server)
		s.Servers, s.Dirs = append(s.Servers, server), append(s.Dirs, dir)
	}
	s.Config = clickhouse.Config{URL: s.Servers[0].URL(), Shards: strings.Join(addresses, ";")}
	if _, err := clickhouse.Migrate(t.Context(), s.Config); err != nil {
		t.Fatal(err)
	}
	return s
}

// Conn returns a connection to one shard alone.
func (s *Shards) Conn(t testing.TB, i int) driver.Conn {
	t.Helper()
	return Open(t, clickhouse.Config{URL: s.Servers[i].URL()})
}

// NewStack returns a stack; the end of the test stops what it started.
func NewStack(t testing.TB, c StackConfig) *Stack {
	t.Helper()
	s := &Stack{t: t, Kafka: kafka.Config{Brokers: c.Brokers}, ClickHouse: clickhouse.Config{URL: c.ClickHouse}}
	if c.SharedPostgres {
		s.Postgres = SharedPostgres(t)
		s.PostgresURL = s.Postgres.Unscoped().Config().ConnString()
	} else {
		s.PostgresURL = MigratedPostgresURL(t)
		s.Postgres = PostgresPool(t, s.PostgresURL)
	}
	if c.Brokers == nil {
		s.Broker = NewKafka(t, t.TempDir())
		Run(t, s.Broker)
		s.Kafka.Brokers = s.Broker.Brokers()
	}
	switch {
	case c.Shards != nil:
		s.ClickHouse = c.Shards.Config
	case c.ClickHouse == "":
		s.ClickHouse = MigratedClickHouse(t)
	default:
		if _, err := clickhouse.Migrate(t.Context(), s.ClickHouse); err != nil {
			t.Fatal(err)
		}
	}
	s.Conn = Open(t, s.ClickHouse)
	var err error
	s.Client, err = kgo.NewClient(append(s.Kafka.Options(slog.New(slog.DiscardHandler)),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.MetadataMinAge(100*time.Millisecond))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Client.Close)
	if _, err := kafka.CreateTopics(t.Context(), s.Client, kafka.TopicConfig{Partitions: c.Partitions,
		Replication: 1}); err != nil {
		t.Fatal(err)
	}
	if s.TopicID, _, err = kafka.Topic(t.Context(), s.Client, event.Topic); err != nil {
		t.Fatal(err)
	}
	return s
}

// Exec runs a statement in Postgres, with all rights on the rows of all accounts.
func (s *Stack) Exec(sql string, args ...any) {
	s.t.Helper()
	if _, err := s.Postgres.Unscoped().Exec(context.WithoutCancel(s.t.Context()), sql, args...); err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
}

// Magnet creates an account with a lead magnet.
func (s *Stack) Magnet() (account, magnet uuid.UUID) {
	s.t.Helper()
	account, magnet = uuid.New(), uuid.New()
	s.Exec("INSERT INTO accounts (id, name, plan) VALUES ($1, 'a', 'team')", account)
	s.Exec("INSERT INTO lead_magnets (id, account_id, title) VALUES ($1, $2, 'm')", magnet, account)
	return account, magnet
}

// Link creates an access link; submission may be nil.
func (s *Stack) Link(account, magnet uuid.UUID, submission *uuid.UUID) uuid.UUID {
	s.t.Helper()
	id := uuid.New()
	s.Exec(`INSERT INTO access_links (id, account_id, lead_magnet_id, submission_id, email, email_key, token_hash, token_sealed, token_key)
		VALUES ($1, $2, $3, $4, 'a@example.com', 'a@example.com', sha256($5::text::bytea), '', 0)`, id, account, magnet, submission, uuid.NewString())
	return id
}

// migratedClickHouse migrates the shared server once in a test process.
var migratedClickHouse once

// MigratedClickHouse returns the shared server with the current schema. Tests share it: give
// accounts and topics unique ids.
func MigratedClickHouse(t testing.TB) clickhouse.Config {
	t.Helper()
	c := clickhouse.Config{URL: ClickHouse(t)}
	migratedClickHouse.do(t, func() error {
		_, err := clickhouse.Migrate(context.Background(), c)
		return err
	})
	return c
}

// alone is held by the test that has the shared ClickHouse to itself.
var alone sync.Mutex

// EmptyClickHouse is MigratedClickHouse without events and copies, which the test has to itself
// until it ends: for what works on the rows of all accounts. No other test of the package may use
// the server beside it. Not for what looks at the parts of tables: TRUNCATE may leave empty ones
// for a while.
func EmptyClickHouse(t testing.TB) clickhouse.Config {
	t.Helper()
	c := MigratedClickHouse(t)
	alone.Lock()
	t.Cleanup(alone.Unlock)
	conn := Open(t, c)
	var tables []string
	if err := conn.QueryRow(t.Context(), `SELECT groupArray(name) FROM system.tables
		WHERE database = 'lodestone' AND engine LIKE '%MergeTree' AND name NOT IN ('goose_db_version', 'shard', 'pulse')`).Scan(&tables); err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		if err := conn.Exec(t.Context(), "TRUNCATE TABLE lodestone."+table); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// Open returns a connection that sees the rows of every account; the end of the test closes it.
func Open(t testing.TB, c clickhouse.Config) driver.Conn {
	t.Helper()
	conn, err := clickhouse.Open(c, 4)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Errorf("close the connection to ClickHouse: %v", err)
		}
	})
	return conn
}

// MigratedPostgres returns a pool of connections to a database of the test's own with the current
// schema. It is a copy of one that is migrated once, as copyCluster says.
func MigratedPostgres(t testing.TB) *postgres.Pool {
	t.Helper()
	return PostgresPool(t, MigratedPostgresURL(t))
}

// MigratedPostgresURL returns the address of such a database.
func MigratedPostgresURL(t testing.TB) string {
	t.Helper()
	return copyDatabase(t, templateDatabase)
}

// sharedDatabase is opened once in a test process.
var sharedDatabase struct {
	once

	pool *postgres.Pool
}

// SharedPostgres returns a pool of connections to a database with the current schema that the tests
// of a package share: for tests that look at rows of accounts of their own alone, and start nothing
// that works on those of all.
func SharedPostgres(t testing.TB) *postgres.Pool {
	t.Helper()
	sharedDatabase.do(t, func() (err error) {
		sharedDatabase.pool, err = postgres.Open(context.Background(),
			postgres.Config{URL: MigratedPostgresURL(t), MaxConns: 16})
		if err == nil {
			AtEnd(sharedDatabase.pool.Close)
		}
		return err
	})
	return sharedDatabase.pool
}

// PostgresPool returns a pool of connections to a database; the end of the test closes it.
func PostgresPool(t testing.TB, url string) *postgres.Pool {
	t.Helper()
	pool, err := postgres.Open(t.Context(), postgres.Config{URL: url, MaxConns: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}
