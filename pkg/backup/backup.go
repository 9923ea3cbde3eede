// Package backup copies what an installation stores to a directory or a bucket, and brings it back.
// ClickHouse is copied first, by its own BACKUP, and Postgres after it: so Postgres knows of
// everything that the rows are about. What consumer groups had committed is read before both. A
// restored consumer goes on from there as after a crash, and stores what the copy of ClickHouse
// lacks, each event once.
package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"strconv"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/blob"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
	"lodestone/pkg/service"
	"lodestone/pkg/store"
)

// Config is the setting of backups.
type Config struct {
	ClickHouseDir string `name:"backup-clickhouse-dir" placeholder:"DIR" help:"Directory on this machine that ClickHouse's setting backups.allowed_path lists. A link to the backups is created there. Default: none, because the setting lists the directory of the backups itself."`
}

// Bucket has the files of lead magnets, if Postgres has not.
type Bucket struct {
	Client *minio.Client
	At     blob.Location
}

// Deps are the dependencies of backups. Files and Progress may be nil; all else is required, but
// for lists and checks.
type Deps struct {
	Postgres   *postgres.Pool
	ClickHouse clickhouse.Config
	Kafka      kafka.Config
	S3         blob.Config // of a place in a bucket
	Files      *Bucket
	Program    string // the version of this program
	Log        *slog.Logger
	Progress   func(line string) // for a person
}

// Backups is one place of backups.
type Backups struct {
	deps  Deps
	place place
}

// Open returns the place of backups at a directory, or an address such as s3://bucket/prefix.
func Open(c Config, d Deps, at string) (*Backups, error) {
	p, err := openPlace(at, c, d.S3)
	if err != nil {
		return nil, err
	}
	if d.Progress == nil {
		d.Progress = func(string) {}
	}
	return &Backups{deps: d, place: p}, nil
}

// Errors that a person can do something about.
var (
	ErrNotEmpty = errors.New("a restore needs empty engines")
	ErrInUse    = errors.New("the installation runs")
)

// Create makes a backup.
func (b *Backups) Create(ctx context.Context) (m Manifest, err error) {
	if d, ok := b.place.(directory); ok {
		if err := config.Writable("PLACE", d.path); err != nil {
			return m, err
		}
	}
	err = b.deps.Postgres.WithMigrationLock(ctx,
		func(ctx context.Context) error { // the schema stays as it is, and one backup runs at a time
			m, err = b.create(ctx)
			return err
		})
	return m, err
}

// name returns the name of a backup that begins now. If there is one of this second, it waits for
// the next.
func (b *Backups) name(ctx context.Context) (began time.Time, name string, err error) {
	for {
		began = time.Now().UTC().Truncate(time.Millisecond)
		name = began.Format(nameForm)
		switch _, err := b.place.size(ctx, name+"/"+manifestName); {
		case errors.Is(err, fs.ErrNotExist):
			return began, name, nil
		case err != nil:
			return began, name, fmt.Errorf("look for a backup of this second: %w", err)
		}
		if err := service.Sleep(ctx, time.Until(began.Truncate(time.Second).Add(time.Second))); err != nil {
			return began, name, err
		}
	}
}

func (b *Backups) create(ctx context.Context) (m Manifest, err error) {
	m = Manifest{Version: manifestVersion, Program: b.deps.Program, Lacks: lacks}
	if m.BeganAt, m.Name, err = b.name(ctx); err != nil {
		return m, err
	}
	client, err := kgo.NewClient(b.deps.Kafka.Options(b.deps.Log)...)
	if err != nil {
		return m, fmt.Errorf("make Kafka client: %w", err)
	}
	defer client.Close()
	if m.Offsets, err = committed(ctx, b.deps.Postgres, b.deps.ClickHouse.Number(), client); err != nil {
		return m, err
	}
	servers, err := b.deps.ClickHouse.DistinctServers(ctx)
	if err != nil {
		return m, err
	}
	for _, server := range servers {
		s, err := b.createShard(ctx, m.Name, server)
		if err != nil {
			return m, err
		}
		m.ClickHouse = append(m.ClickHouse, s)
		b.deps.Progress(fmt.Sprintf("ClickHouse shard %d: %d files, %d bytes", s.ID, s.Size.Files, s.Size.Bytes))
	}
	var files []File
	if m.Postgres, m.PostgresAt, files, err = dump(ctx, b.deps.Postgres, b.place, m.Name+"/postgres"); err != nil {
		return m, err
	}
	b.deps.Progress(fmt.Sprintf("Postgres: %d tables", len(m.Postgres.Tables)))
	if m.Files, m.Gone, err = b.copyFiles(ctx, m.Name, files); err != nil {
		return m, err
	}
	m.EndedAt = time.Now().UTC().Truncate(time.Millisecond)
	return m, writeManifest(ctx, b.place, m)
}

func shardFolder(name string, id uint16) string {
	return name + "/clickhouse/" + strconv.Itoa(int(id))
}

// listingName is ClickHouse's own manifest.
const listingName = ".backup"

func (b *Backups) createShard(ctx context.Context, name string, server clickhouse.Config) (s Shard, err error) {
	state, err := clickhouse.State(ctx, server)
	if err != nil {
		return s, err
	}
	s = Shard{ID: state.Shard, Server: state.Version, Oldest: state.Oldest, Newest: state.Newest}
	to, err := b.place.server(shardFolder(name, s.ID))
	if err != nil {
		return s, err
	}
	if s.Size, err = clickhouse.Backup(ctx, server, to); err != nil {
		return s, err
	}
	if _, err := b.place.size(ctx, shardFolder(name, s.ID)+"/"+listingName); err != nil {
		return s, fmt.Errorf("ClickHouse wrote its backup elsewhere than this process looks (%s): %w", to.Path, err)
	}
	if s.Sums, err = b.writeSums(ctx, shardFolder(name, s.ID)); err != nil {
		return s, err
	}
	return s, nil
}

// copyFiles copies the files of the bucket, and returns those that are in the backup then. Their
// content never changes. The list is of the snapshot of Postgres: a file that was deleted since is
// gone, and no backup can have it.
func (b *Backups) copyFiles(ctx context.Context, backup string, files []File) (there []File, gone []Gone, err error) {
	if len(files) > 0 && b.deps.Files == nil {
		return nil, nil, fmt.Errorf(
			"%d files are in a bucket: give --file-store and its settings, so that they are in the backup", len(files))
	}
	for _, f := range files {
		err := b.copyFile(ctx, backup, f)
		if errors.Is(err, fs.ErrNotExist) {
			stored, failed := store.New(b.deps.Postgres.Unscoped()).IsFileStored(ctx,
				store.IsFileStoredParams{LeadMagnetID: f.of.LeadMagnetID, Version: f.of.Version})
			if failed == nil && !stored {
				gone = append(gone, f.of)
				continue
			}
			err = errors.Join(err, failed)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("copy file %s: %w", f.ID, err)
		}
		there = append(there, f)
	}
	if len(files) > 0 {
		b.deps.Progress(fmt.Sprintf("files of the bucket: %d", len(there)))
	}
	for _, g := range gone {
		b.deps.Progress(g.String())
	}
	return there, gone, nil
}

// copyFile copies one file. The error wraps fs.ErrNotExist if the bucket has not got it.
func (b *Backups) copyFile(ctx context.Context, backup string, f File) error {
	name := b.deps.Files.At.Prefix + f.ID.String()
	object, err := b.deps.Files.Client.GetObject(ctx, b.deps.Files.At.Bucket, name, minio.GetObjectOptions{})
	if err != nil {
		return err
	}
	o, err := b.place.create(ctx, fileName(backup, f.ID), func(w io.Writer) error {
		if _, err := io.Copy(w, object); err != nil {
			return missing(name, err)
		}
		return nil
	})
	if err := errors.Join(err, object.Close()); err != nil {
		return err
	}
	if o.SHA256 != f.SHA256 {
		return errors.New("it is not the file that was uploaded (SHA-256)")
	}
	return nil
}

// List returns the backups that ended, the oldest first.
func (b *Backups) List(ctx context.Context) ([]Manifest, error) { return list(ctx, b.place) }

// Find returns a backup by its name, or the newest for "".
func (b *Backups) Find(ctx context.Context, name string) (m Manifest, err error) {
	if name != "" {
		return readManifest(ctx, b.place, name)
	}
	all, err := list(ctx, b.place)
	if err == nil && len(all) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return m, err
	}
	return all[len(all)-1], nil
}
