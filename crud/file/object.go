package file

import (
	"context"
	"fmt"
	"io"

	"github.com/google/uuid"
	"github.com/minio/minio-go/v7"

	"lodestone/pkg/blob"
)

// partSize is how much of a file is in memory while it is sent.
const partSize = 16 << 20

// objects are files in a bucket.
type objects struct {
	client *minio.Client
	at     blob.Location
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
	_, err := o.client.PutObject(ctx, o.at.Bucket, o.name(id), from, size,
		minio.PutObjectOptions{ContentType: "application/pdf", PartSize: partSize, NumThreads: 1})
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

func (o *objects) open(ctx context.Context, name string) (*minio.Object, error) {
	object, err := o.client.GetObject(ctx, o.at.Bucket, name, minio.GetObjectOptions{})
	if err != nil {
		return nil, objectError("open", name, err)
	}
	return object, nil
}

// objectError returns ErrGone for an object that is not there, and a problem (503) for anything
// else.
func objectError(doing, name string, err error) error {
	if minio.ToErrorResponse(err).Code == minio.NoSuchKey {
		return fmt.Errorf("%s object %s: %w", doing, name, ErrGone)
	}
	return unavailable(doing+" object "+name, err)
}
