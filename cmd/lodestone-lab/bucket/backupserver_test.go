package bucket_test

import (
	"io/fs"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/minio/minio-go/v7"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/backup"
	"lodestone/pkg/blob"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/test/enginetest"
)

// ClickHouse itself reads a backup from the bucket. It was written to a directory and copied:
// ClickHouse's library, which tests run, cannot write to a bucket. It signs its requests and looks
// for an earlier backup, and then lacks a pool of threads.
func TestClickHouseRestoresFromABucketByItself(t *testing.T) {
	dir := enginetest.Dir(t)
	server := enginetest.NewClickHouse(t, dir)
	enginetest.Run(t, server)
	stack := enginetest.NewStack(t, enginetest.StackConfig{Partitions: 2, ClickHouse: server.URL()})
	// for which ClickHouse signs if the address names no region
	address, _, _ := serveAccounts(t, "backups", "us-east-1", nil)
	s3 := blob.Config{Endpoint: address, AccessKey: accessKey, SecretKey: secretKey}
	deps := backup.Deps{Postgres: enginetest.MigratedPostgres(t), ClickHouse: stack.ClickHouse, Kafka: stack.Kafka, S3: s3,
		Log: slog.New(slog.DiscardHandler)}
	require.NoError(t, stack.Conn.Exec(t.Context(), `INSERT INTO lodestone.events (account_id, access_link_id, event_id, event_type, event_data, created_at, received_at, kafka_topic_id, kafka_offset)
		SELECT generateUUIDv4(), generateUUIDv4(1), generateUUIDv4(2), 'page_viewed', '{}', now(), now64(), generateUUIDv4(3), number FROM numbers(100)`))
	open := func(at string) *backup.Backups {
		t.Helper()
		b, err := backup.Open(backup.Config{}, deps, at)
		require.NoError(t, err)
		return b
	}
	place := filepath.Join(dir, "backups", "of-tests")
	m, err := open(place).Create(t.Context())
	require.NoError(t, err)
	bucket, err := s3.Open()
	require.NoError(t, err)
	require.NoError(t, filepath.WalkDir(place, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(place, path)
		require.NoError(t, err)
		_, err = bucket.FPutObject(t.Context(), "backups", "lodestone/"+filepath.ToSlash(name),
			path, minio.PutObjectOptions{})
		return err
	}))

	for _, database := range []string{"analytics", "lodestone_all", "lodestone"} {
		require.NoError(t, stack.Conn.Exec(t.Context(), "DROP DATABASE IF EXISTS "+database+" SYNC"))
	}
	deps.Postgres = enginetest.MigratedPostgres(t)
	_, err = open("s3://backups/lodestone").Restore(t.Context(), m)
	require.NoError(t, err)
	var rows int64
	require.NoError(t, stack.Conn.QueryRow(t.Context(), "SELECT toInt64(count()) FROM lodestone.events").Scan(&rows))
	require.EqualValues(t, 100, rows)

	_, err = open("s3://backups/lodestone").Create(t.Context())
	require.ErrorContains(t, err, "BackupsIOThreadPool", "if it can write now, have it make the backup above")
	_, err = clickhouse.Backup(t.Context(), stack.ClickHouse, clickhouse.BackupPlace{URL: address + "/backups/x",
		AccessKey: accessKey, SecretKey: "another"})
	require.ErrorContains(t, err, "S3_ERROR")
}
