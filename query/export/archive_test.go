package export_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/parquet-go/parquet-go"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"lodestone/pkg/blob"
	"lodestone/pkg/event"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
	"lodestone/pkg/test/enginetest"
	"lodestone/query/export"
	"lodestone/query/querytest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// installation is a database of accounts, with an archive of their events.
type installation struct {
	t      *testing.T
	db     *postgres.Pool
	config export.ArchiveConfig
}

func newInstallation(t *testing.T) *installation {
	t.Helper()
	return &installation{t, enginetest.MigratedPostgres(t), export.ArchiveConfig{To: filepath.Join(t.TempDir(), "archive"),
		Interval: time.Hour, Timeout: time.Minute, MemoryBytes: 256 << 20}}
}

func (i *installation) account() uuid.UUID {
	i.t.Helper()
	id := querytest.ID(i.t)
	require.NoError(i.t, store.New(i.db.Unscoped()).InsertAccount(i.t.Context(),
		store.InsertAccountParams{ID: id, Name: "Test", Plan: "team"}))
	return id
}

// open returns an archive, and its metrics.
func (i *installation) open() (*export.Archive, *prometheus.Registry) {
	i.t.Helper()
	metrics := prometheus.NewRegistry()
	a, err := export.NewArchive(i.config, export.ArchiveDeps{
		ClickHouse: enginetest.MigratedClickHouse(i.t), HTTP: querytest.HTTP(i.t), Postgres: i.db,
		Log: querytest.Log(), Registerer: metrics,
	})
	require.NoError(i.t, err)
	i.t.Cleanup(func() { require.NoError(i.t, a.Close()) })
	return a, metrics
}

// store stores an event at each of the times, and returns their ids.
func (i *installation) store(account uuid.UUID, times ...time.Time) (ids []uuid.UUID) {
	i.t.Helper()
	return i.storeBy(querytest.Conn(i.t), account, times...)
}

func (i *installation) storeBy(conn driver.Conn, account uuid.UUID, times ...time.Time) (ids []uuid.UUID) {
	i.t.Helper()
	topic := querytest.ID(i.t)
	var events []querytest.StoredEvent
	for n, at := range times {
		id := querytest.ID(i.t)
		ids = append(ids, id)
		events = append(events, querytest.StoredEvent{
			Event: event.Event{
				AccountID: account, LeadMagnetID: querytest.ID(i.t), AccessLinkID: querytest.ID(i.t), EventID: id,
				Type: event.PageViewed, UserAgent: []byte("curl/8"),
				CreatedAt: at.Add(-30 * time.Hour).UnixMilli(), ReceivedAt: at.Add(-time.Hour).UnixMilli(),
			},
			TopicID: topic, Offset: int64(n), StoredAt: at,
		})
	}
	querytest.Store(i.t, conn, events...)
	return ids
}

// A day's file has the events of all shards, whichever of them writes it.
func TestADayIsOfAllShards(t *testing.T) {
	t.Parallel()
	shards := enginetest.NewShards(t, 2)
	i := newInstallation(t)
	account, over := i.account(), today().AddDate(0, 0, -2) // yesterday is complete only some time after midnight
	var want []uuid.UUID
	for shard := range shards.Servers {
		want = append(want, i.storeBy(shards.Conn(t, shard), account, over.Add(time.Hour), over.Add(2*time.Hour))...)
	}
	for _, server := range shards.Servers {
		i.config.To = filepath.Join(t.TempDir(), "archive")
		a, err := export.NewArchive(i.config, export.ArchiveDeps{
			ClickHouse: shards.Config, HTTP: server.HTTPURL(), Postgres: i.db, Log: querytest.Log(),
			Registerer: prometheus.NewRegistry(),
		})
		require.NoError(t, err)
		require.NoError(t, a.Once(t.Context()))
		require.NoError(t, a.Close())
		m := i.manifest(account, i.read)
		require.Len(t, m.Files, 1)
		require.ElementsMatch(t, want, idsOf(t, i.read(m.Files[0].Path)))
	}
}

// today is the start of a day that is not complete.
func today() time.Time { return time.Now().UTC().Truncate(24 * time.Hour) }

func (i *installation) read(name string) []byte {
	i.t.Helper()
	text, err := os.ReadFile(filepath.Join(i.config.To, name))
	require.NoError(i.t, err)
	return text
}

// manifest returns that of an account, after its files were compared with it.
func (i *installation) manifest(account uuid.UUID, read func(name string) []byte) export.Manifest {
	i.t.Helper()
	var m export.Manifest
	require.NoError(i.t, json.Unmarshal(read("manifests/account_id="+account.String()+".json"), &m))
	require.Equal(i.t, account, m.AccountID)
	for _, f := range m.Files {
		text := read(f.Path)
		hash := sha256.Sum256(text)
		require.Equal(i.t, f.SHA256, hex.EncodeToString(hash[:]))
		require.Len(i.t, text, int(f.Bytes))
		require.Len(i.t, idsOf(i.t, text), int(f.Rows))
		require.Equal(i.t, "events/account_id="+account.String()+"/day="+f.Day+"/events.parquet", f.Path)
		require.False(i.t, f.AsOf.Before(day(i.t, f.Day).Add(24*time.Hour)), "the day was over")
	}
	return m
}

func day(t *testing.T, text string) time.Time {
	t.Helper()
	d, err := time.Parse(time.DateOnly, text)
	require.NoError(t, err)
	return d
}

func idsOf(t *testing.T, file []byte) (ids []uuid.UUID) {
	t.Helper()
	type row struct {
		ID uuid.UUID `parquet:"id,uuid"`
	}
	rows, err := parquet.Read[row](bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	for _, r := range rows {
		ids = append(ids, r.ID)
	}
	return ids
}

// Each event is in the file of the day on which it was stored, whenever it happened, and days that
// are not over have none.
func TestEachEventIsInTheFileOfItsDay(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	one, two, idle := i.account(), i.account(), i.account()
	first := today().AddDate(0, 0, -9)
	end := 24*time.Hour - time.Millisecond
	ids := i.store(one, first, first.Add(time.Hour), first.Add(end), first.AddDate(0, 0, 1),
		first.AddDate(0, 0, 4).Add(end), first.AddDate(0, 0, 5), time.Now().Add(time.Hour))
	other := i.store(two, first.Add(time.Minute))
	a, _ := i.open()
	// so long after midnight the day before may count as not complete
	before := time.Now().UTC().Add(-time.Minute).Truncate(24 * time.Hour)
	require.NoError(t, a.Once(t.Context()))
	m := i.manifest(one, i.read)
	require.Contains(t, []time.Time{before, today()}, m.CompleteUntil)
	got := map[string][]uuid.UUID{}
	for _, f := range m.Files {
		got[f.Day] = idsOf(t, i.read(f.Path))
		slices.SortFunc(got[f.Day], func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	}
	name := func(n int) string { return first.AddDate(0, 0, n).Format(time.DateOnly) }
	require.Equal(t, map[string][]uuid.UUID{name(0): ids[:3], name(1): ids[3:4], name(4): ids[4:5], name(5): ids[5:6]},
		got)
	m = i.manifest(two, i.read)
	require.Len(t, m.Files, 1)
	require.Equal(t, other, idsOf(t, i.read(m.Files[0].Path)))
	require.NoFileExists(t, filepath.Join(i.config.To, "manifests/account_id="+idle.String()+".json"))
}

// contents returns every file of the archive by its name.
func (i *installation) contents() map[string]string {
	i.t.Helper()
	all := map[string]string{}
	require.NoError(i.t, fs.WalkDir(os.DirFS(i.config.To), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		all[path] = string(i.read(path))
		return nil
	}))
	return all
}

// A day is written once, also by several processes at a time.
func TestADayIsWrittenOnce(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	account := i.account()
	first := today().AddDate(0, 0, -4) // yesterday is complete only some time after midnight
	i.store(account, first, first.AddDate(0, 0, 1), first.AddDate(0, 0, 2))
	var group errgroup.Group
	var all []*prometheus.Registry
	for range 3 {
		a, metrics := i.open()
		all = append(all, metrics)
		group.Go(func() error { return a.Once(context.WithoutCancel(t.Context())) })
	}
	require.NoError(t, group.Wait())
	before := i.contents()
	require.Len(t, before, 4, "three days and a manifest")
	a, metrics := i.open()
	require.NoError(t, a.Once(t.Context()))
	require.Equal(t, before, i.contents())
	written := 0.0
	for _, m := range append(all, metrics) {
		written += counter(t, m, "lodestone_archive_files_total")
	}
	require.InDelta(t, 3, written, 0)
}

func counter(t *testing.T, from *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := from.Gather()
	require.NoError(t, err)
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetCounter().GetValue()
		}
	}
	require.Fail(t, "no metric "+name)
	return 0
}

// A run that ends between a file and its manifest is continued where it stopped, and what it left
// is replaced.
func TestARunThatWasKilledIsContinued(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	account := i.account()
	first := today().AddDate(0, 0, -3)
	ids := i.store(account, first, first.Add(time.Hour), first.AddDate(0, 0, 1))
	a, _ := i.open()
	require.NoError(t, a.Once(t.Context()))
	name := "manifests/account_id=" + account.String() + ".json"
	killed := i.manifest(account, i.read)
	// of the second day there is the file only
	killed.Files, killed.CompleteUntil = killed.Files[:1], first.AddDate(0, 0, 1)
	text, err := json.Marshal(killed)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(i.config.To, name), text, 0o600))
	left := filepath.Join(i.config.To, ".tmp", "lodestone-export-1")
	require.NoError(t, os.WriteFile(left, []byte("PAR1"), 0o600))
	require.NoError(t, a.Once(t.Context()))
	m := i.manifest(account, i.read)
	var got []uuid.UUID
	for _, f := range m.Files {
		got = append(got, idsOf(t, i.read(f.Path))...)
	}
	require.ElementsMatch(t, ids, got)
	require.Equal(t, killed.Files[0], m.Files[0], "the first day is not written again")
	require.Len(t, i.contents(), 3)
	require.NoFileExists(t, left)
}

// What one account's archive cannot take keeps no other account's from being written.
func TestAnAccountThatFailsHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	one, two := i.account(), i.account()
	for _, account := range []uuid.UUID{one, two} {
		i.store(account, today().AddDate(0, 0, -2))
	}
	require.NoError(t, os.MkdirAll(filepath.Join(i.config.To, "manifests"), 0o750))
	path := filepath.Join(i.config.To, "manifests", "account_id="+one.String()+".json")
	require.NoError(t, os.WriteFile(path, []byte(`{"account_id":"`+two.String()+`"}`), 0o600))
	a, _ := i.open()
	require.ErrorContains(t, a.Once(t.Context()), "it is of account "+two.String())
	require.Len(t, i.manifest(two, i.read).Files, 1)
}

func TestArchiveAsAService(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	account := i.account()
	i.store(account, today().AddDate(0, 0, -2))
	a, _ := i.open()
	require.NoError(t, a.Start(t.Context()))
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(i.config.To, "manifests", "account_id="+account.String()+".json"))
		return err == nil
	}, enginetest.Timeout, 20*time.Millisecond)
	require.NoError(t, a.Stop(t.Context()))
	require.Len(t, i.manifest(account, i.read).Files, 1)
}

// In a bucket, the same files are under the same names below the prefix.
func TestArchiveInABucket(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	account := i.account()
	first := today().AddDate(0, 0, -3)
	ids := i.store(account, first, first.AddDate(0, 0, 1))
	s3 := newStore(t, "analytics")
	i.config.To, i.config.TempDir = "s3://analytics/lodestone/daily", t.TempDir()
	i.config.Store = blob.Config{Endpoint: s3.url, Region: "us-east-1", AccessKey: "access", SecretKey: "secret"}
	a, _ := i.open()
	require.NoError(t, a.Once(t.Context()))
	read := func(name string) []byte {
		object, ok := s3.get("/analytics/lodestone/daily/" + name)
		require.True(t, ok, name)
		return object
	}
	m := i.manifest(account, read)
	var got []uuid.UUID
	for _, f := range m.Files {
		got = append(got, idsOf(t, read(f.Path))...)
	}
	require.ElementsMatch(t, ids, got)
	puts := s3.puts()
	require.True(t, strings.HasSuffix(puts[len(puts)-1], ".json"), "the manifest comes last: %v", puts)
	require.NoError(t, a.Once(t.Context()))
	require.Equal(t, puts, s3.puts(), "nothing is written again")
	left, err := os.ReadDir(i.config.TempDir)
	require.NoError(t, err)
	require.Empty(t, left)

	i.config.To = "s3://nowhere/x"
	a, _ = i.open()
	require.ErrorContains(t, a.Once(t.Context()), "--export-to")
}

func TestSettings(t *testing.T) {
	t.Parallel()
	good := newInstallation(t).config
	require.NoError(t, good.Validate())
	for _, c := range []struct {
		change func(c *export.ArchiveConfig)
		want   string
	}{
		{func(c *export.ArchiveConfig) { c.To = "" }, "--export-to"},
		{func(c *export.ArchiveConfig) { c.To = "ftp://host/x" }, "--export-to"},
		{func(c *export.ArchiveConfig) { c.To = "s3://bucket"; c.Store.Endpoint = "host:9000" }, "--s3-endpoint"},
		{func(c *export.ArchiveConfig) { c.To = "s3://bucket"; c.Store.AccessKey = "x" }, "--s3-secret-key"},
	} {
		changed := good
		c.change(&changed)
		require.ErrorContains(t, changed.Validate(), c.want)
	}
}
