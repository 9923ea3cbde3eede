package file

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/google/uuid"
	"github.com/minio/minio-go/v7"

	"lodestone/pkg/objectstore"
	"lodestone/pkg/store"
)

// partSize is how much of a file is in memory while it is sent.
const partSize = 16 << 20

// objects are files in a bucket, and copies of those that are read.
type objects struct {
	client *minio.Client
	at     objectstore.Location
	cache  *cache
}

func (o *objects) name(id uuid.UUID) string { return o.at.Prefix + id.String() }

func (o *objects) exists(ctx context.Context) (bool, error) {
	exists, err := o.client.BucketExists(ctx, o.at.Bucket)
	if err != nil {
		return false, fmt.Errorf("look for bucket %s: %w", o.at.Bucket, err)
	}
	return exists, nil
}

func (o *objects) put(ctx context.Context, id uuid.UUID, from io.Reader, size int64) error {
	_, err := o.client.PutObject(ctx, o.at.Bucket, o.name(id), from, size, minio.PutObjectOptions{ContentType: "application/pdf", PartSize: partSize, NumThreads: 1})
	if err != nil {
		return unavailable("write object "+o.name(id), err)
	}
	return nil
}

// remove removes an object, which may be gone already.
func (o *objects) remove(ctx context.Context, id uuid.UUID) error {
	err := o.client.RemoveObject(ctx, o.at.Bucket, o.name(id), minio.RemoveObjectOptions{})
	if err != nil && minio.ToErrorResponse(err).Code != minio.NoSuchKey {
		return fmt.Errorf("remove object %s: %w", o.name(id), err)
	}
	return nil
}

// open returns a copy of a file. Release it.
func (o *objects) open(ctx context.Context, f store.LeadMagnetFile) (*copied, error) {
	return o.cache.open(ctx, [sha256.Size]byte(f.SHA256), func(ctx context.Context, into *os.File) (int64, error) {
		return o.fetch(ctx, f, into)
	})
}

// fetch copies a file from the bucket and proves that it is the one that was uploaded.
func (o *objects) fetch(ctx context.Context, f store.LeadMagnetFile, into *os.File) (int64, error) {
	name := o.name(*f.ObjectID)
	object, err := o.client.GetObject(ctx, o.at.Bucket, name, minio.GetObjectOptions{})
	if err != nil {
		return 0, unavailable("read object "+name, err)
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(into, sum), object)
	if minio.ToErrorResponse(err).Code == minio.NoSuchKey {
		_ = object.Close()
		return 0, fmt.Errorf("read object %s: %w", name, ErrGone)
	}
	if err := errors.Join(err, object.Close()); err != nil {
		return 0, unavailable("read object "+name, err)
	}
	if [sha256.Size]byte(sum.Sum(nil)) != [sha256.Size]byte(f.SHA256) {
		return 0, fmt.Errorf("read object %s: it is not the file that was uploaded (SHA-256)", name)
	}
	return n, nil
}
