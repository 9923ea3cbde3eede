package blob

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

	"github.com/minio/minio-go/v7"
)

// Folder holds small JSON documents, in a directory or a bucket. Names are without the suffix
// .json. It is safe for concurrent use.
type Folder interface {
	// Write returns when the document would outlive a loss of power. It replaces one of the same name.
	Write(ctx context.Context, name string, text []byte) error
	// After returns the names behind one, in their order; behind "", all of them. Names that are
	// compared are equally long.
	After(ctx context.Context, name string) ([]string, error)
	// Read returns a document. The error has its address.
	Read(ctx context.Context, name string) ([]byte, error)
	// Address returns the path or the URL of a document.
	Address(name string) string
}

const suffix = ".json"

// OpenFolder returns a folder, which is an address such as s3://bucket/prefix or a directory. It
// makes the directory, and does not connect to a bucket.
func OpenFolder(at string, c Config) (Folder, error) {
	if location, bucket := ParseLocation(at); bucket {
		client, err := c.Open() // folders are in the store of the files
		if err != nil {
			return nil, err
		}
		return bucketFolder{client, location}, nil
	}
	if err := os.MkdirAll(at, 0o700); err != nil {
		return nil, fmt.Errorf("make directory: %w", err)
	}
	return directory(at), nil
}

// named returns the name of a document by that of its file or object, if it is one.
func named(file, after string) (name string, ok bool) {
	name, ok = strings.CutSuffix(file, suffix)
	return name, ok && name > after
}

type directory string

// Address implements Folder.
func (d directory) Address(name string) string { return filepath.Join(string(d), name+suffix) }

// Write implements Folder.
func (d directory) Write(_ context.Context, name string, text []byte) error {
	return WriteFile(d.Address(name), func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// After implements Folder.
func (d directory) After(_ context.Context, name string) (names []string, err error) {
	files, err := os.ReadDir(string(d)) // in the order of their names
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if name, ok := named(f.Name(), name); ok {
			names = append(names, name)
		}
	}
	return names, nil
}

// Read implements Folder.
func (d directory) Read(_ context.Context, name string) ([]byte, error) {
	return os.ReadFile(d.Address(name))
}

type bucketFolder struct {
	client *minio.Client
	at     Location
}

func (b bucketFolder) key(name string) string { return b.at.Prefix + name + suffix }

// Address implements Folder.
func (b bucketFolder) Address(name string) string { return "s3://" + b.at.Bucket + "/" + b.key(name) }

// Write implements Folder.
func (b bucketFolder) Write(ctx context.Context, name string, text []byte) error {
	_, err := b.client.PutObject(ctx, b.at.Bucket, b.key(name), bytes.NewReader(text), int64(len(text)),
		minio.PutObjectOptions{ContentType: "application/json"})
	if err != nil {
		return fmt.Errorf("write %s: %w", b.Address(name), err)
	}
	return nil
}

// After implements Folder.
func (b bucketFolder) After(ctx context.Context, name string) (names []string, err error) {
	ctx, cancel := context.WithCancel(ctx) // ends the listing
	defer cancel()
	options := minio.ListObjectsOptions{Prefix: b.at.Prefix}
	if name != "" {
		options.StartAfter = b.key(name)
	}
	for o := range b.client.ListObjects(ctx, b.at.Bucket, options) {
		if o.Err != nil {
			return nil, fmt.Errorf("list s3://%s/%s: %w", b.at.Bucket, b.at.Prefix, o.Err)
		}
		if name, ok := named(strings.TrimPrefix(o.Key, b.at.Prefix), name); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Read implements Folder.
func (b bucketFolder) Read(ctx context.Context, name string) (text []byte, err error) {
	object, err := b.client.GetObject(ctx, b.at.Bucket, b.key(name), minio.GetObjectOptions{})
	if err == nil {
		text, err = io.ReadAll(object)
		err = errors.Join(err, object.Close())
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", b.Address(name), err)
	}
	return text, nil
}
