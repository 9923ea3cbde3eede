package person

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
	"github.com/minio/minio-go/v7"

	"lodestone/pkg/durable"
	"lodestone/pkg/objectstore"
)

// Entry is an erasure in the log. It has no address.
type Entry struct {
	Version   int       `json:"version"` // 1
	ID        uuid.UUID `json:"id"`
	AccountID uuid.UUID `json:"account_id"`
	PersonID  uuid.UUID `json:"person_id"` // zero: the account whole
	ErasedAt  time.Time `json:"erased_at"`
}

const (
	entryVersion = 1
	entrySuffix  = ".json"
)

// Log is where erasures are on record outside the databases: one file or object each, so that any number of processes may write. It is
// safe for concurrent use.
type Log interface {
	// Append returns when the entry would outlive a loss of power.
	Append(ctx context.Context, e Entry) error
	// Entries returns all entries, oldest first.
	Entries(ctx context.Context) ([]Entry, error)
}

// OpenLog returns the log of the settings, or nil if there is none. It makes the directory, and does not connect to a bucket.
func OpenLog(c Config, s3 objectstore.Config) (Log, error) {
	if c.Log == "" {
		return nil, nil //nolint:nilnil // no log is no error: erasing is refused then
	}
	if at, bucket := objectstore.ParseLocation(c.Log); bucket {
		client, err := s3.Open()
		if err != nil {
			return nil, fmt.Errorf("open erasure log: %w", err)
		}
		return bucketLog{client, at}, nil
	}
	if err := os.MkdirAll(c.Log, 0o700); err != nil {
		return nil, fmt.Errorf("make directory of erasure log: %w", err)
	}
	return directoryLog(c.Log), nil
}

func decodeEntry(name string, text []byte) (e Entry, err error) {
	err = json.Unmarshal(text, &e)
	if err == nil && e.Version != entryVersion {
		err = fmt.Errorf("it has version %d, and this program knows %d", e.Version, entryVersion)
	}
	if err != nil {
		return e, fmt.Errorf("read entry %s of erasure log: %w", name, err)
	}
	return e, nil
}

func inOrder(list []Entry) []Entry {
	slices.SortFunc(list, func(a, b Entry) int { return a.ErasedAt.Compare(b.ErasedAt) })
	return list
}

// directoryLog is a directory of files.
type directoryLog string

// Append implements Log.
func (d directoryLog) Append(_ context.Context, e Entry) error {
	text, err := json.Marshal(e)
	if err == nil {
		err = durable.Write(filepath.Join(string(d), e.ID.String()+entrySuffix), func(w io.Writer) error {
			_, err := w.Write(text)
			return err //nolint:wrapcheck // durable names the file
		})
	}
	if err != nil {
		return fmt.Errorf("append to erasure log: %w", err)
	}
	return nil
}

// Entries implements Log.
func (d directoryLog) Entries(context.Context) (list []Entry, err error) {
	files, err := os.ReadDir(string(d))
	if err != nil {
		return nil, fmt.Errorf("read erasure log: %w", err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), entrySuffix) {
			continue // of an append that did not end
		}
		text, err := os.ReadFile(filepath.Join(string(d), f.Name()))
		if err != nil {
			return nil, fmt.Errorf("read erasure log: %w", err)
		}
		e, err := decodeEntry(f.Name(), text)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return inOrder(list), nil
}

// bucketLog is a bucket of objects.
type bucketLog struct {
	client *minio.Client
	at     objectstore.Location
}

// Append implements Log.
func (b bucketLog) Append(ctx context.Context, e Entry) error {
	text, err := json.Marshal(e)
	if err == nil {
		_, err = b.client.PutObject(ctx, b.at.Bucket, b.at.Prefix+e.ID.String()+entrySuffix, bytes.NewReader(text), int64(len(text)),
			minio.PutObjectOptions{ContentType: "application/json"})
	}
	if err != nil {
		return fmt.Errorf("append to erasure log: %w", err)
	}
	return nil
}

// Entries implements Log.
func (b bucketLog) Entries(ctx context.Context) (list []Entry, err error) {
	ctx, cancel := context.WithCancel(ctx) // ends the listing
	defer cancel()
	for o := range b.client.ListObjects(ctx, b.at.Bucket, minio.ListObjectsOptions{Prefix: b.at.Prefix}) {
		if o.Err != nil {
			return nil, fmt.Errorf("list erasure log: %w", o.Err)
		}
		if !strings.HasSuffix(o.Key, entrySuffix) {
			continue
		}
		object, err := b.client.GetObject(ctx, b.at.Bucket, o.Key, minio.GetObjectOptions{})
		if err != nil {
			return nil, fmt.Errorf("read erasure log: %w", err)
		}
		text, err := io.ReadAll(object)
		if err := errors.Join(err, object.Close()); err != nil {
			return nil, fmt.Errorf("read erasure log: %w", err)
		}
		e, err := decodeEntry(o.Key, text)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return inOrder(list), nil
}
