package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/minio/minio-go/v7"

	"lodestone/pkg/blob"
	"lodestone/pkg/clickhouse"
)

// place is where backups are. Names have slashes. An error that wraps fs.ErrNotExist says that
// there is nothing of a name.
type place interface {
	create(ctx context.Context, name string, write func(io.Writer) error) (Object, error)
	open(ctx context.Context, name string) (io.ReadCloser, error)
	// size returns the size of an object.
	size(ctx context.Context, name string) (int64, error)
	// sizes returns the sizes of all objects in a folder, by their names there. A folder that does not
	// exist has none.
	sizes(ctx context.Context, folder string) (map[string]int64, error)
	// folders returns the names of what is at the top.
	folders(ctx context.Context) ([]string, error)
	// server returns a folder as ClickHouse reaches it.
	server(name string) (clickhouse.BackupPlace, error)
}

// openPlace returns the place of the settings. It does not connect to a bucket.
func openPlace(at string, c Config, s3 blob.Config) (place, error) {
	if bucket, ok := blob.ParseLocation(at); ok {
		client, err := s3.Open()
		if err != nil {
			return nil, fmt.Errorf("open place of backups: %w", err)
		}
		return bucketPlace{client: client, at: bucket, config: s3}, nil
	}
	path, err := filepath.Abs(at)
	if err != nil {
		return nil, fmt.Errorf("open place of backups: %w", err)
	}
	return directory{path: path, links: c.ClickHouseDir}, nil
}

// digestWriter computes the size and the hash of what is written.
type digestWriter struct {
	to    io.Writer
	bytes int64
	sum   interface {
		io.Writer
		Sum([]byte) []byte
	}
}

func count(to io.Writer) *digestWriter { return &digestWriter{to: to, sum: sha256.New()} }

func (c *digestWriter) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	c.bytes += int64(n)
	_, _ = c.sum.Write(p[:n]) // a hash takes everything
	return n, err
}

func (c *digestWriter) object(name string) Object {
	return Object{Name: name, Bytes: c.bytes, SHA256: hex.EncodeToString(c.sum.Sum(nil))}
}

// directory is a place on a disk.
type directory struct {
	path, links string
}

func (d directory) file(name string) string { return filepath.Join(d.path, filepath.FromSlash(name)) }

func (d directory) create(_ context.Context, name string, write func(io.Writer) error) (o Object, err error) {
	if err := os.MkdirAll(filepath.Dir(d.file(name)), 0o700); err != nil {
		return o, fmt.Errorf("write %s: %w", name, err)
	}
	err = blob.WriteFile(d.file(name), func(w io.Writer) error {
		c := count(w)
		err := write(c)
		o = c.object(name)
		return err
	})
	return o, err
}

func (d directory) open(_ context.Context, name string) (io.ReadCloser, error) {
	return os.Open(d.file(name))
}

func (d directory) size(_ context.Context, name string) (int64, error) {
	info, err := os.Stat(d.file(name))
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (d directory) sizes(_ context.Context, folder string) (map[string]int64, error) {
	sizes, root := map[string]int64{}, d.file(folder)
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		sizes[filepath.ToSlash(name)] = info.Size()
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list %s: %w", folder, err)
	}
	return sizes, nil
}

func (d directory) folders(context.Context) (names []string, err error) {
	entries, err := os.ReadDir(d.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list backups: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// server makes a link to the directory where ClickHouse may write, if it may not write everywhere.
func (d directory) server(name string) (clickhouse.BackupPlace, error) {
	if d.links == "" {
		return clickhouse.BackupPlace{Path: d.file(name)}, nil
	}
	sum := sha256.Sum256([]byte(d.path))
	link := filepath.Join(d.links, hex.EncodeToString(sum[:8]))
	err := errors.Join(os.MkdirAll(d.links, 0o700), os.MkdirAll(d.path, 0o700))
	if err == nil {
		if err = os.Symlink(d.path, link); errors.Is(err, fs.ErrExist) {
			err = nil // its name is made of where it leads
		}
	}
	if err != nil {
		return clickhouse.BackupPlace{}, fmt.Errorf("let ClickHouse write to %s: %w", d.path, err)
	}
	return clickhouse.BackupPlace{Path: filepath.Join(link, filepath.FromSlash(name))}, nil
}

// bucketPlace is a place in a bucket.
type bucketPlace struct {
	client *minio.Client
	at     blob.Location
	config blob.Config
}

// partSize is how much of an object is in memory while it is sent. A store takes ten thousand
// parts.
const partSize = 32 << 20

func (b bucketPlace) create(ctx context.Context, name string, write func(io.Writer) error) (Object, error) {
	r, w := io.Pipe()
	c := count(w)
	go func() { _ = w.CloseWithError(write(c)) }() // never fails
	_, err := b.client.PutObject(ctx, b.at.Bucket, b.at.Prefix+name, r, -1,
		minio.PutObjectOptions{PartSize: partSize, NumThreads: 1})
	_ = r.CloseWithError(err) // never fails
	if err != nil {
		return Object{}, fmt.Errorf("write %s: %w", name, err)
	}
	return c.object(name), nil
}

func (b bucketPlace) open(ctx context.Context, name string) (io.ReadCloser, error) {
	object, err := b.client.GetObject(ctx, b.at.Bucket, b.at.Prefix+name, minio.GetObjectOptions{})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if _, err := object.Stat(); err != nil {
		return nil, errors.Join(missing(name, err), object.Close())
	}
	return object, nil
}

func (b bucketPlace) size(ctx context.Context, name string) (int64, error) {
	info, err := b.client.StatObject(ctx, b.at.Bucket, b.at.Prefix+name, minio.StatObjectOptions{})
	if err != nil {
		return 0, missing(name, err)
	}
	return info.Size, nil
}

func missing(name string, err error) error {
	if minio.ToErrorResponse(err).Code == minio.NoSuchKey {
		return fmt.Errorf("read %s: %w", name, fs.ErrNotExist)
	}
	return fmt.Errorf("read %s: %w", name, err)
}

func (b bucketPlace) sizes(ctx context.Context, folder string) (map[string]int64, error) {
	ctx, cancel := context.WithCancel(ctx) // ends the listing
	defer cancel()
	sizes, prefix := map[string]int64{}, b.at.Prefix+folder+"/"
	for o := range b.client.ListObjects(ctx, b.at.Bucket, minio.ListObjectsOptions{Prefix: prefix, Recursive: true}) {
		if o.Err != nil {
			return nil, fmt.Errorf("list %s: %w", folder, o.Err)
		}
		sizes[strings.TrimPrefix(o.Key, prefix)] = o.Size
	}
	return sizes, nil
}

func (b bucketPlace) folders(ctx context.Context) (names []string, err error) {
	ctx, cancel := context.WithCancel(ctx) // ends the listing
	defer cancel()
	for o := range b.client.ListObjects(ctx, b.at.Bucket, minio.ListObjectsOptions{Prefix: b.at.Prefix}) {
		if o.Err != nil {
			return nil, fmt.Errorf("list backups: %w", o.Err)
		}
		if name, folder := strings.CutSuffix(strings.TrimPrefix(o.Key, b.at.Prefix), "/"); folder {
			names = append(names, name)
		}
	}
	return names, nil
}

func (b bucketPlace) server(name string) (clickhouse.BackupPlace, error) {
	return clickhouse.BackupPlace{
		URL:       strings.TrimRight(b.config.Endpoint, "/") + "/" + b.at.Bucket + "/" + b.at.Prefix + name,
		AccessKey: b.config.AccessKey, SecretKey: b.config.SecretKey,
	}, nil
}
