// Package bucket tests the daily export, and files in a bucket, against a real S3 server.
package bucket_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/parquet-go/parquet-go"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/versity/versitygw/auth"
	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
	"go.uber.org/goleak"

	"lodestone/pkg/blob"
	"lodestone/pkg/store"
	"lodestone/pkg/test"
	"lodestone/pkg/test/enginetest"
	"lodestone/query/export"
	"lodestone/query/querytest"
)

func TestMain(m *testing.M) {
	test.Trust()
	// it runs as long as the process
	enginetest.Main(m, goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"))
}

const (
	accessKey = "access-of-tests"
	secretKey = "secret-of-tests"
	region    = "eu-central-1"

	versions = "versions" // directory of old versions, beside that of the buckets
)

// serve runs an S3 server with a bucket, and returns its address, the directory of the bucket, and
// how to stop it. There may be one in a process, so the tests do not run in parallel.
func serve(t *testing.T, name string) (address, dir string, stop func()) {
	t.Helper()
	return serveAccounts(t, name, region, nil)
}

// serveAccounts is serve in a region and with keys of accounts beside that of the root; nil: there
// are none.
func serveAccounts(t *testing.T, name, region string, accounts auth.IAMService) (address, dir string, stop func()) {
	t.Helper()
	t.Chdir(".") // the server changes the working directory, in which the engines are looked for
	base, sidecar := t.TempDir(), t.TempDir()
	root := filepath.Join(base, "root")
	dir = filepath.Join(root, name)
	require.NoError(t, os.MkdirAll(dir, 0o750))
	require.NoError(t, os.Mkdir(filepath.Join(base, versions), 0o750))
	metadata, err := meta.NewSideCar(sidecar)
	require.NoError(t, err)
	backend, err := posix.New(root, metadata, posix.PosixOpts{SideCarDir: sidecar,
		VersioningDir: filepath.Join(base, versions), Concurrency: 16})
	require.NoError(t, err)
	host := net.JoinHostPort("127.0.0.1", strconv.Itoa(enginetest.FreePort(t)))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- embedgw.RunVersityGW(ctx, backend, &embedgw.Config{
			RootUserAccess: accessKey, RootUserSecret: secretKey, Region: region, Ports: []string{host},
			MaxConnections: 100, MaxRequests: 100, MultipartMaxParts: 10_000, Quiet: true, IAMService: accounts,
		})
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	t.Cleanup(stop)
	require.Eventually(t, func() bool {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", host)
		return err == nil && conn.Close() == nil
	}, enginetest.Timeout, 20*time.Millisecond)
	return "http://" + host, dir, stop
}

// A day that is larger than one part of an upload arrives completely, with a manifest that says
// what it is, and once.
func TestDailyExportIntoABucket(t *testing.T) {
	db, c := enginetest.MigratedPostgres(t), enginetest.MigratedClickHouse(t)
	address, dir, _ := serve(t, "analytics")
	account := querytest.ID(t)
	require.NoError(t, store.New(db.Unscoped()).InsertAccount(t.Context(), store.InsertAccountParams{ID: account,
		Name: "Test", Plan: "team"}))
	const events = 600_000
	stored := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -2)
	ctx := native.Context(t.Context(),
		native.WithSettings(native.Settings{"async_insert": 0, "insert_allow_materialized_columns": 1}))
	require.NoError(t, enginetest.Open(t, c).Exec(ctx, fmt.Sprintf(`INSERT INTO lodestone.events (account_id, access_link_id, event_id, event_type, event_data, created_at, received_at, stored_at, kafka_topic_id, kafka_offset)
		SELECT '%s', generateUUIDv4(number), generateUUIDv4(number + 1000000), 'page_viewed', '{}', toDateTime64(%d, 3, 'UTC'), toDateTime64(%[2]d, 3, 'UTC'), toDateTime64(%[2]d, 3, 'UTC'), '%[3]s', number
		FROM numbers(%d)`, account, stored.Unix(), uuid.New(), events)))

	a, err := export.NewArchive(export.ArchiveConfig{
		To: "s3://analytics/daily", Interval: time.Hour, Timeout: time.Minute, MemoryBytes: 256 << 20, TempDir: t.TempDir(),
		Store: blob.Config{Endpoint: address, Region: region, AccessKey: accessKey, SecretKey: secretKey},
	}, export.ArchiveDeps{ClickHouse: c, HTTP: querytest.HTTP(t), Postgres: db, Log: querytest.Log(),
		Registerer: prometheus.NewRegistry()})
	require.NoError(t, err)
	defer func() { require.NoError(t, a.Close()) }()
	require.NoError(t, a.Once(t.Context()))

	path := filepath.Join(dir, "daily", "manifests", "account_id="+account.String()+".json")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var m export.Manifest
	require.NoError(t, json.Unmarshal(text, &m))
	require.Len(t, m.Files, 1)
	require.Equal(t, stored.Format(time.DateOnly), m.Files[0].Day)
	file, err := os.ReadFile(filepath.Join(dir, "daily", m.Files[0].Path))
	require.NoError(t, err)
	require.Greater(t, len(file), 17<<20, "more than a part")
	hash := sha256.Sum256(file)
	require.Equal(t, m.Files[0].SHA256, hex.EncodeToString(hash[:]))
	opened, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	require.EqualValues(t, events, opened.NumRows())
	require.EqualValues(t, events, m.Files[0].Rows)

	before, err := os.Stat(path)
	require.NoError(t, err)
	require.NoError(t, a.Once(t.Context()))
	after, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, before.ModTime(), after.ModTime(), "it is not written again")
}
