package bucket_test

import (
	"bytes"
	"crypto/sha256"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"github.com/versity/versitygw/auth"

	"lodestone/crud/file"
	"lodestone/pkg/blob"
	"lodestone/pkg/config"
	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
	"lodestone/pkg/test/enginetest"
)

// library is the files of one account, in a bucket or not.
type library struct {
	*testing.T
	db      *postgres.Pool
	account uuid.UUID
	config  file.Config
	dir     string // of the bucket
	stop    func() // of the store
}

func newLibrary(t *testing.T) *library {
	t.Helper()
	return newLibraryOf(t, nil)
}

// newLibraryOf is newLibrary with keys of accounts at the store; nil: that of the root alone.
func newLibraryOf(t *testing.T, accounts auth.IAMService) *library {
	t.Helper()
	l := &library{T: t, db: enginetest.MigratedPostgres(t), account: uuid.New()}
	var address string
	address, l.dir, l.stop = serveAccounts(t, "documents", region, accounts)
	l.config = file.Config{
		Store: "s3://documents/lodestone",
		S3:    blob.Config{Endpoint: address, Region: region, AccessKey: accessKey, SecretKey: secretKey},
	}
	require.NoError(t, store.New(l.db.Unscoped()).InsertAccount(t.Context(), store.InsertAccountParams{ID: l.account,
		Name: "Test", Plan: "team"}))
	return l
}

func (l *library) open(c file.Config) *file.Files {
	l.Helper()
	files, err := file.New(c, file.Deps{Postgres: l.db, Log: slog.New(slog.DiscardHandler)})
	require.NoError(l, err)
	return files
}

// add stores a file of random bytes as the first version of a new lead magnet.
func (l *library) add(files *file.Files, size int) (store.LeadMagnetFile, []byte) {
	l.Helper()
	text := make([]byte, size)
	_, _ = rand.NewChaCha8(sha256.Sum256([]byte(l.Name()))).Read(text)
	sum := sha256.Sum256(text)
	id := uuid.New()
	object, err := files.Write(l.Context(), l.account, bytes.NewReader(text), int64(size))
	require.NoError(l, err)
	err = l.db.Account(l.Context(), l.account, func(tx pgx.Tx) error {
		if _, err := store.New(tx).InsertMagnet(l.Context(),
			store.InsertMagnetParams{ID: id, AccountID: l.account, Title: "x"}); err != nil {
			return err
		}
		return files.Insert(l.Context(), tx, store.InsertFileParams{
			LeadMagnetID: id, Version: 1, AccountID: l.account, FileName: "x.pdf", ContentType: "application/pdf",
			FileSize: int64(size), PageCount: 1, SHA256: sum[:], ObjectID: object,
		}, bytes.NewReader(text))
	})
	require.NoError(l, err)
	return l.file(id), text
}

func (l *library) file(magnet uuid.UUID) store.LeadMagnetFile {
	l.Helper()
	f, err := store.New(l.db.Unscoped()).GetFileVersion(l.Context(),
		store.GetFileVersionParams{LeadMagnetID: magnet, Version: 1})
	require.NoError(l, err)
	return f
}

func (l *library) read(files *file.Files, f store.LeadMagnetFile) ([]byte, error) {
	content := files.Open(l.Context(), f)
	defer content.Close()
	return io.ReadAll(content)
}

// objects returns the paths of what the bucket holds.
func (l *library) objects() []string {
	l.Helper()
	found, err := filepath.Glob(filepath.Join(l.dir, "lodestone", "*"))
	require.NoError(l, err)
	return found
}

func (l *library) chunks() (n int) {
	l.Helper()
	require.NoError(l, l.db.Unscoped().QueryRow(l.Context(), "SELECT count(*) FROM lead_magnet_file_chunks").Scan(&n))
	return n
}

// A file in a bucket is read whole and in ranges. It is unavailable while the bucket is away, and
// gone if its object is.
func TestFileInABucket(t *testing.T) {
	l := newLibrary(t)
	files := l.open(l.config)
	f, text := l.add(files, 17<<20+12_345) // more than a part
	require.Zero(t, l.chunks())
	require.Len(t, l.objects(), 1)
	got, err := l.read(files, f)
	require.NoError(t, err)
	require.True(t, bytes.Equal(text, got))
	for _, at := range []int64{0, 1, 65_535, 65_536, 1 << 20, int64(len(text)) - 1} {
		content := files.Open(t.Context(), f)
		_, err := content.Seek(at, io.SeekStart)
		require.NoError(t, err)
		some := make([]byte, min(100, int64(len(text))-at))
		_, err = io.ReadFull(content, some)
		require.NoError(t, err)
		require.True(t, bytes.Equal(text[at:at+int64(len(some))], some))
		content.Close()
	}

	deleted, _ := l.add(files, 100)
	require.NoError(t, os.Remove(filepath.Join(l.dir, "lodestone", deleted.ObjectID.String())))
	_, err = l.read(files, deleted)
	require.ErrorIs(t, err, file.ErrGone)

	l.stop()
	_, err = l.read(files, f)
	var p *problem.Problem
	require.ErrorAs(t, err, &p)
	require.Equal(t, problem.Unavailable, p.Code)
	_, err = files.Write(t.Context(), l.account, bytes.NewReader(text), 100)
	require.ErrorAs(t, err, &p)
	require.Equal(t, problem.Unavailable, p.Code)
}

// Files that were stored in Postgres are read from there by a process with a bucket, whose own it
// cannot be without.
func TestFilesOfBefore(t *testing.T) {
	l := newLibrary(t)
	inPostgres, inBucket := l.open(file.Config{}), l.open(l.config)
	f, text := l.add(inPostgres, 3<<20+1)
	got, err := l.read(inBucket, f)
	require.NoError(t, err)
	require.True(t, bytes.Equal(text, got))
	f, _ = l.add(inBucket, 100)
	require.True(t, config.IsInvalid(inPostgres.Start(t.Context())), "a process without the setting does not start")
	_, err = l.read(inPostgres, f)
	require.ErrorContains(t, err, "--file-store")
}

// age makes all records of objects older than an upload can be.
func (l *library) age() {
	l.Helper()
	_, err := l.db.Unscoped().Exec(l.Context(), "UPDATE file_objects SET created_at = created_at - interval '61 minutes'")
	require.NoError(l, err)
}

// Objects that no file uses are removed: those of uploads that were killed, and of files that were
// deleted. Young ones are not, since their upload may go on, nor is one that a file takes at that
// time.
func TestSweep(t *testing.T) {
	l := newLibrary(t)
	files := l.open(l.config)
	kept, text := l.add(files, 1000)
	deleted, _ := l.add(files, 1000)
	orphan, err := files.Write(t.Context(), l.account, bytes.NewReader(text), 1000)
	require.NoError(t, err)
	_, err = l.db.Unscoped().Exec(t.Context(), "DELETE FROM lead_magnets WHERE id = $1", deleted.LeadMagnetID)
	require.NoError(t, err)
	require.NoError(t, files.Sweep(t.Context()))
	require.Len(t, l.objects(), 3, "all are young")
	l.age()

	taking, err := l.db.Unscoped().Begin(t.Context())
	require.NoError(t, err)
	require.NoError(t, store.New(taking).InsertFile(t.Context(), store.InsertFileParams{
		LeadMagnetID: kept.LeadMagnetID, Version: 2, AccountID: l.account, FileName: "x", ContentType: "application/pdf",
		FileSize: 1000, PageCount: 1, SHA256: kept.SHA256, ObjectID: orphan,
	}))
	swept := make(chan error)
	go func() { swept <- files.Sweep(t.Context()) }()
	l.blocked()
	require.NoError(t, taking.Commit(t.Context()))
	require.Error(t, <-swept, "the file took the object first")
	require.Len(t, l.objects(), 3)
	require.NoError(t, files.Sweep(t.Context()))
	require.Len(t, l.objects(), 2)
	for _, version := range []int32{1, 2} {
		f, err := store.New(l.db.Unscoped()).GetFileVersion(t.Context(),
			store.GetFileVersionParams{LeadMagnetID: kept.LeadMagnetID, Version: version})
		require.NoError(t, err)
		_, err = l.read(l.open(l.config), f)
		require.NoError(t, err)
	}
}

// blocked waits until a statement of the database waits for another one.
func (l *library) blocked() {
	l.Helper()
	require.Eventually(l, func() bool {
		var n int
		err := l.db.Unscoped().QueryRow(l.Context(),
			"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'").Scan(&n)
		return err == nil && n > 0
	}, enginetest.Timeout, 10_000_000)
}

func TestSettingsOfABucket(t *testing.T) {
	l := newLibrary(t)
	files := l.open(l.config)
	require.NoError(t, files.Start(t.Context()))
	require.NoError(t, files.Stop(t.Context()))
	l.config.Store = "s3://nowhere"
	require.ErrorContains(t, l.open(l.config).Start(t.Context()), "--file-store")
	for setting, c := range map[string]file.Config{
		"--file-store":    {Store: "/directory", S3: l.config.S3},
		"--s3-endpoint":   {Store: "s3://documents", S3: blob.Config{Endpoint: "host:9000"}},
		"--s3-secret-key": {Store: "s3://documents", S3: blob.Config{Endpoint: "http://host:9000", AccessKey: "x"}},
	} {
		require.ErrorContains(t, c.Validate(), setting)
	}
}
