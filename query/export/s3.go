package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/minio/minio-go/v7"

	"lodestone/pkg/blob"
	"lodestone/pkg/config"
)

// bucket is a Target in an S3-compatible store, where an object replaces another one at once.
type bucket struct {
	client       *minio.Client
	name, prefix string
	temp         string
}

// partSize is how much of a file is in memory while it is sent.
const partSize = 16 << 20

func newBucket(c ArchiveConfig, at blob.Location) (*bucket, error) {
	client, err := c.Store.Open()
	if err != nil {
		return nil, err
	}
	return &bucket{client, at.Bucket, at.Prefix, c.TempDir}, nil
}

// Temp implements Target.
func (b *bucket) Temp() string { return b.temp }

// Check implements Target.
func (b *bucket) Check(ctx context.Context) error {
	exists, err := b.client.BucketExists(ctx, b.name)
	if err != nil {
		return fmt.Errorf("look for bucket %s: %w", b.name, err)
	}
	if !exists {
		return config.Invalid("--export-to", "names the bucket "+b.name+", which does not exist or is not yours",
			"create it, or name another one")
	}
	return nil
}

// Read implements Target.
func (b *bucket) Read(ctx context.Context, name string) ([]byte, error) {
	object, err := b.client.GetObject(ctx, b.name, b.prefix+name, minio.GetObjectOptions{})
	if err != nil {
		return nil, fmt.Errorf("read object %s: %w", name, err)
	}
	text, err := io.ReadAll(object)
	if minio.ToErrorResponse(err).Code == minio.NoSuchKey {
		err = fs.ErrNotExist
	}
	if err := errors.Join(err, object.Close()); err != nil {
		return nil, fmt.Errorf("read object %s: %w", name, err)
	}
	return text, nil
}

// Put implements Target.
func (b *bucket) Put(ctx context.Context, name, path string) error {
	_, err := b.client.FPutObject(ctx, b.name, b.prefix+name, path, minio.PutObjectOptions{ContentType: contentType(name),
		PartSize: partSize, NumThreads: 1})
	if err = errors.Join(err, os.Remove(path)); err != nil {
		return fmt.Errorf("write object %s: %w", name, err)
	}
	return nil
}

func contentType(name string) string {
	if strings.HasSuffix(name, ".json") {
		return "application/json"
	}
	return "application/vnd.apache.parquet"
}
