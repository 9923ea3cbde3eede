package bucket_test

import (
	"log/slog"
	"path/filepath"
	"testing"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/backup"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/engine/enginetest"
	"lodestone/pkg/objectstore"
)

// ClickHouse itself reads a full backup and an incremental one from the bucket, to which they were copied through a directory. ClickHouse's library,
// which tests run, cannot write to a bucket: it signs its requests and looks for an earlier backup, and then lacks a pool of threads.
func TestClickHouseRestoresFromABucketByItself(t *testing.T) {
	dir := enginetest.Dir(t)
	server := enginetest.NewClickHouse(t, dir)
	enginetest.Run(t, server)
	stack := enginetest.NewStack(t, enginetest.StackConfig{Partitions: 2, ClickHouse: server.URL()})
	address, _, _ := serveAccounts(t, "backups", "us-east-1", nil) // for which ClickHouse signs if the address names no region
	s3 := objectstore.Config{Endpoint: address, AccessKey: accessKey, SecretKey: secretKey}
	deps := backup.Deps{Postgres: enginetest.MigratedPostgres(t), ClickHouse: stack.ClickHouse, Kafka: stack.Kafka, Log: slog.New(slog.DiscardHandler)}
	const events = 100
	insert := func(from int) {
		ctx := native.Context(t.Context(), native.WithSettings(native.Settings{"async_insert": 0}))
		require.NoError(t, stack.Conn.Exec(ctx, `INSERT INTO lodestone.events (account_id, access_link_id, event_id, event_type, event_data, created_at, received_at, kafka_topic_id, kafka_offset)
			SELECT toUUID('0191d3c5-8a4e-7c1f-9b1d-3f2f6f0a7e55'), generateUUIDv4(number), generateUUIDv4(number + 1000), 'page_viewed', '{}', now(), now64(), toUUID('0191d3c5-8a4e-7c1f-9b1d-3f2f6f0a7e56'), number
			FROM numbers(?, ?)`, from, events))
	}

	through, err := backup.Open(backup.Config{S3: s3, ClickHouseDir: filepath.Join(dir, "backups")}, deps, "s3://backups/lodestone")
	require.NoError(t, err)
	insert(0)
	full, err := through.Create(t.Context(), false, 0)
	require.NoError(t, err)
	insert(events)
	added, err := through.Create(t.Context(), true, 0)
	require.NoError(t, err)
	require.Equal(t, full.Name, added.Base)

	itself := func() *backup.Backups {
		b, err := backup.Open(backup.Config{S3: s3}, deps, "s3://backups/lodestone")
		require.NoError(t, err)
		return b
	}
	for i, m := range []backup.Manifest{full, added} {
		for _, database := range []string{"analytics", "lodestone_all", "lodestone"} {
			require.NoError(t, stack.Conn.Exec(t.Context(), "DROP DATABASE IF EXISTS "+database+" SYNC"))
		}
		deps.Postgres = enginetest.MigratedPostgres(t)
		_, err = itself().Restore(t.Context(), m)
		require.NoError(t, err)
		var rows int64
		require.NoError(t, stack.Conn.QueryRow(t.Context(), "SELECT toInt64(count()) FROM lodestone.events").Scan(&rows))
		require.EqualValues(t, (i+1)*events, rows)
	}

	_, err = itself().Create(t.Context(), false, 0)
	require.ErrorContains(t, err, "BackupsIOThreadPool", "if it can write now, have it make the backups above")
	_, err = clickhouse.Backup(t.Context(), stack.ClickHouse, clickhouse.BackupPlace{URL: address + "/backups/x", AccessKey: accessKey, SecretKey: "another"}, nil)
	require.ErrorContains(t, err, "S3_ERROR")
}
