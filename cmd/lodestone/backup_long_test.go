//go:build long

package main

import (
	"strings"
	"testing"

	"github.com/minio/minio-go/v7"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/objectstore"
)

// The same with a bucket, from which an old backup is removed. The ClickHouse of `lodestone up` cannot write there by itself.
func TestBackupDrillInABucket(t *testing.T) {
	t.Parallel()
	env := startBucket(t, "backups")
	store := objectstore.Config{Endpoint: strings.TrimPrefix(env[0], "LODESTONE_BACKUP_S3_ENDPOINT="), AccessKey: "access-of-tests", SecretKey: "secret-of-tests"}
	bucket, err := store.Open()
	require.NoError(t, err)
	const old = "lodestone/20200101T000000Z/postgres/accounts"
	_, err = bucket.PutObject(t.Context(), "backups", old, strings.NewReader("x"), 1, minio.PutObjectOptions{})
	require.NoError(t, err)
	drill(t, "s3://backups/lodestone", env...)
	_, err = bucket.StatObject(t.Context(), "backups", old, minio.StatObjectOptions{})
	require.Equal(t, minio.NoSuchKey, minio.ToErrorResponse(err).Code, "%v", err)
}
