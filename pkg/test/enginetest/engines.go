package enginetest

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"lodestone/pkg/engine"
	"lodestone/pkg/test/apachekafka"
)

// NewClickHouse returns a server of the test's own in dir, for tests that kill or restart one.
// It is not started; the test stops it.
func NewClickHouse(t testing.TB, dir string) *engine.ClickHouse {
	t.Helper()
	return engine.NewClickHouse(engine.ClickHouseConfig{
		Runtime: Runtime(), Dir: dir, TCPPort: FreePort(t), HTTPPort: FreePort(t), MemoryBytes: ClickHouseMemory,
		Launcher: Launcher(t), Installer: Installer(t),
	})
}

// NewMigratedClickHouse returns a server like NewClickHouse's that has the current schema:
// clickhouse.Migrate only makes it a shard.
func NewMigratedClickHouse(t testing.TB, dir string) *engine.ClickHouse {
	t.Helper()
	if err := copyClickHouse(t, dir); err != nil {
		t.Fatal(err)
	}
	return NewClickHouse(t, dir)
}

// NewPostgres returns a server of the test's own in dir (see Dir), for tests that kill or restart
// one. It is not started; the test stops it.
func NewPostgres(t testing.TB, dir string) *engine.Postgres {
	t.Helper()
	return engine.NewPostgres(engine.PostgresConfig{Runtime: Runtime(), Dir: dir, Port: FreePort(t),
		NoSync: true, Installer: Installer(t)})
}

// NewKafka returns a broker of the test's own in dir, for tests that restart one or provoke its
// errors. It is not started; the test stops it.
func NewKafka(t testing.TB, dir string) *engine.Kafka {
	t.Helper()
	return engine.NewKafka(engine.KafkaConfig{Runtime: Runtime(), Dir: dir, Port: FreePort(t), NoSync: true})
}

// Server returns the shared ClickHouse server, for its other addresses and users.
func Server(t testing.TB) *engine.ClickHouse {
	t.Helper()
	return get(t, "clickhouse", func(dir string) *engine.ClickHouse { return NewMigratedClickHouse(t, dir) })
}

// ConfiguredServer returns a server like Server's with more files of configuration, by their names.
// Tests share it by its name.
func ConfiguredServer(t testing.TB, name string, files func() map[string]string) *engine.ClickHouse {
	t.Helper()
	return get(t, "clickhouse_"+name, func(dir string) *engine.ClickHouse {
		server := NewMigratedClickHouse(t, dir)
		for name, text := range files() {
			name = filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		return server
	})
}

// ClickHouse returns the native address of the shared server with the database "lodestone", which
// the migrations create. Tests share it: give accounts and the like unique ids.
func ClickHouse(t testing.TB) string {
	t.Helper()
	return Server(t).URL()
}

// ClickHouseDatabase returns the native address of the shared server with an empty database of the
// test's own. The user has all rights, on every database. Databases stay until the server ends,
// with the tests of its package: dropping them took a third of the time of tests that need one
// each.
func ClickHouseDatabase(t testing.TB) string {
	t.Helper()
	server := Server(t)
	name := unique()
	execClickHouse(t, server, "CREATE DATABASE "+name)
	u := parse(t, server.URL())
	u.Path = "/" + name
	return u.String()
}

func execClickHouse(t testing.TB, server *engine.ClickHouse, query string) {
	t.Helper()
	u := parse(t, server.URL())
	u.Path = "/default"
	options, err := clickhouse.ParseDSN(u.String())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Exec(context.Background(), query); err != nil {
		t.Errorf("%s: %v", query, err)
	}
	if err := conn.Close(); err != nil {
		t.Errorf("close the connection to ClickHouse: %v", err)
	}
}

// Postgres returns the address of an empty database of the test's own, as its owner, a role like
// Lodestone's. It stays until the server ends, as ClickHouseDatabase says.
func Postgres(t testing.TB) string {
	t.Helper()
	return createDatabase(t, "")
}

func sharedPostgres(t testing.TB) *engine.Postgres {
	t.Helper()
	return get(t, "postgres", func(dir string) *engine.Postgres {
		if err := copyCluster(t, dir); err != nil {
			t.Fatal(err)
		}
		return NewPostgres(t, dir)
	})
}

// createDatabase creates a database with the options given, and returns its address.
func createDatabase(t testing.TB, options string) string {
	t.Helper()
	server, name := sharedPostgres(t), unique()
	execPostgres(t, server, "CREATE DATABASE "+name+" OWNER lodestone"+options)
	return databaseURL(t, server, name)
}

// CopyPostgres returns the address of a database of the test's own with all that is in another one,
// to which no process is connected.
func CopyPostgres(t testing.TB, database string) string {
	t.Helper()
	return copyDatabase(t, filepath.Base(parse(t, database).Path))
}

// copyDatabase creates a database that begins with all that is in another one. The other strategy
// writes each page to the log too, for three times the processor time.
func copyDatabase(t testing.TB, template string) string {
	t.Helper()
	return createDatabase(t, " STRATEGY file_copy TEMPLATE "+template)
}

func databaseURL(t testing.TB, server *engine.Postgres, name string) string {
	t.Helper()
	u := parse(t, server.URL())
	u.Path = "/" + name
	return u.String()
}

func execPostgres(t testing.TB, server *engine.Postgres, query string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, server.AdminURL())
	if err != nil {
		t.Fatal(err)
	}
	if err := execOnceUnused(ctx, conn, query); err != nil {
		t.Errorf("%s: %v", query, err)
	}
	if err := conn.Close(ctx); err != nil {
		t.Errorf("close the connection to PostgreSQL: %v", err)
	}
}

// execOnceUnused repeats a statement while other connections to its database are closing.
// PostgreSQL ends them itself and waits for five seconds, which is too short on some machines.
func execOnceUnused(ctx context.Context, conn *pgx.Conn, query string) error {
	const objectInUse = "55006"
	return repeat(2*time.Minute, func() (again bool, err error) {
		_, err = conn.Exec(ctx, query)
		pg, refused := errors.AsType[*pgconn.PgError](err)
		return refused && pg.Code == objectInUse, err
	})
}

// Kafka returns the addresses of the shared broker. Topics are not created automatically, and tests
// share them: give them unique names.
func Kafka(t testing.TB) []string {
	t.Helper()
	return get(t, "kafka", func(dir string) *engine.Kafka { return NewKafka(t, dir) }).Brokers()
}

// ApacheKafka returns the addresses of a shared, real Apache Kafka of one node, which takes about
// ten seconds and half a gigabyte. Topics are not created automatically: give them unique names.
func ApacheKafka(t testing.TB) []string {
	t.Helper()
	return get(t, "apachekafka", func(dir string) *apachekafka.Cluster {
		return NewApacheKafka(t, dir, 1)
	}).Brokers()
}

// NewApacheKafka returns a cluster of the test's own in dir, of one or three nodes, for tests that
// kill one, or need more addresses. It is not started; the test stops it.
func NewApacheKafka(t testing.TB, dir string, nodes int, more ...apachekafka.Listener) *apachekafka.Cluster {
	t.Helper()
	return apachekafka.New(apachekafka.Config{Runtime: Runtime(), Dir: dir, Nodes: nodes, HeapMB: 384,
		Listeners: more, Installer: Installer(t)})
}

func unique() string { return "test_" + strings.ReplaceAll(uuid.NewString(), "-", "") }

func parse(t testing.TB, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// NewUser creates a role of the shared Postgres that may log in with a password and nothing else.
func NewUser(t testing.TB, password string) (name string) {
	t.Helper()
	server, name := sharedPostgres(t), unique()
	execPostgres(t, server, "CREATE ROLE "+name+" LOGIN PASSWORD '"+password+"'")
	return name
}

// SetPassword gives a role of NewUser another password.
func SetPassword(t testing.TB, name, password string) {
	t.Helper()
	execPostgres(t, sharedPostgres(t), "ALTER ROLE "+name+" PASSWORD '"+password+"'")
}
