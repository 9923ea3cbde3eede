package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"lodestone/pkg/clickhouse"
)

// Manifest describes a backup. It is written last: a directory without one is an unfinished backup.
type Manifest struct {
	Version int    `json:"version"` // 3
	Name    string `json:"name"`
	Program string `json:"program"` // the version of Lodestone that made it

	BeganAt    time.Time `json:"began_at"` // offsets are of this time, ClickHouse is not older
	PostgresAt time.Time `json:"postgres_at"`
	EndedAt    time.Time `json:"ended_at"`

	Offsets    []Offset `json:"offsets"`
	ClickHouse []Shard  `json:"clickhouse"`
	Postgres   Database `json:"postgres"`
	Files      []File   `json:"files"` // of the bucket of files
	Lacks      []string `json:"lacks"`

	// Gone are files of the bucket that the copy of Postgres has, and that were deleted before they
	// could be copied.
	Gone []Gone `json:"gone,omitempty"`
}

// Offset is the offset that the consumer group had committed before ClickHouse was backed up: every
// row below it is in the backup.
type Offset struct {
	Group       string    `json:"group"`
	Topic       string    `json:"topic"`
	TopicID     uuid.UUID `json:"topic_id"`
	Partition   int32     `json:"partition"`
	At          int64     `json:"offset"`
	LeaderEpoch int32     `json:"leader_epoch"`
	Metadata    string    `json:"metadata"`
}

// Shard is the backup of one ClickHouse server.
type Shard struct {
	ID     uint16                `json:"shard"`
	Server string                `json:"server_version"`
	Size   clickhouse.BackupSize `json:"size"`
	Sums   Object                `json:"sums"` // the list of its files with their SHA-256
	Oldest time.Time             `json:"oldest_event,omitzero"`
	Newest time.Time             `json:"newest_event,omitzero"`
}

// Database is the backup of Postgres.
type Database struct {
	Server    string           `json:"server_version"`
	Schema    int64            `json:"schema"` // the newest migration
	Tables    []Table          `json:"tables"`
	Sequences map[string]int64 `json:"sequences"`
}

// Table is one table of Postgres, in the text format of COPY.
type Table struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
	Rows    int64    `json:"rows"`
	Object  Object   `json:"object"`
}

// File is an object of the bucket of files.
type File struct {
	ID     uuid.UUID `json:"id"`
	Bytes  int64     `json:"bytes"`
	SHA256 string    `json:"sha256"`

	of Gone // what it is, if the bucket has not got it
}

// Gone is a version of a document whose file was deleted before it could be copied.
type Gone struct {
	ID           uuid.UUID `json:"id"`
	LeadMagnetID uuid.UUID `json:"lead_magnet_id"`
	Version      int32     `json:"version"`
	Title        string    `json:"title"`
}

// String says to a person which document is not in the backup.
func (g Gone) String() string {
	return fmt.Sprintf("not in the backup, since it was deleted while the backup was made: version %d of the document %q (lead magnet %s)", g.Version, g.Title, g.LeadMagnetID)
}

// Object is something in the place of backups.
type Object struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// lacks says what is never in a backup.
var lacks = []string{
	"the token keys, without which links, mails and webhooks of the backup cannot be read: keep them elsewhere",
	"passwords and settings (.env, lodestone.env, users.d of ClickHouse)",
	"the log of erasures (--erasure-log), which must outlive the databases",
	"Kafka's records, and the spools of collectors: what they hold is stored after a restore",
	"salts of address hashes, and counts of requests",
}

const (
	manifestVersion = 3
	manifestName    = "manifest.json"
	manifestSum     = manifestName + ".sha256"
	nameForm        = "20060102T150405Z"
)

// ErrNotFound is wrapped by the error about a backup that is not there, or did not end, and
// ErrDamaged by the one about a backup that is not what was written.
var (
	ErrNotFound = errors.New("there is no such backup")
	ErrDamaged  = errors.New("the backup is damaged")
)

func readManifest(ctx context.Context, p place, name string) (m Manifest, err error) {
	text, err := readAll(ctx, p, name+"/"+manifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("read backup %s: %w", name, ErrNotFound)
	}
	if err != nil {
		return m, fmt.Errorf("read backup %s: %w", name, err)
	}
	sum, err := readAll(ctx, p, name+"/"+manifestSum)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return m, fmt.Errorf("%w: %s/%s is missing", ErrDamaged, name, manifestSum)
	case err != nil:
		return m, fmt.Errorf("read backup %s: %w", name, err)
	case string(sum) != sumLine(text):
		return m, fmt.Errorf("%w: %s/%s has not the checksum in %s", ErrDamaged, name, manifestName, manifestSum)
	}
	err = json.Unmarshal(text, &m)
	switch {
	case err == nil && m.Version != manifestVersion:
		err = fmt.Errorf("it has version %d, and this program knows %d", m.Version, manifestVersion)
	case err == nil && m.Name != name:
		err = fmt.Errorf("it is the manifest of %s: give the folder this name", m.Name)
	}
	if err != nil {
		return m, fmt.Errorf("read manifest of backup %s: %w", name, err)
	}
	return m, nil
}

func readAll(ctx context.Context, p place, name string) ([]byte, error) {
	r, err := p.open(ctx, name)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(r)
	return text, errors.Join(err, r.Close())
}

// sumLine is the checksum of a manifest, as sha256sum prints it.
func sumLine(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]) + "  " + manifestName + "\n"
}

func writeManifest(ctx context.Context, p place, m Manifest) error {
	text, err := json.Marshal(m, jsontext.WithIndent("  "))
	if err != nil {
		return fmt.Errorf("encode the manifest: %w", err)
	}
	for _, f := range []struct{ name, text string }{{manifestSum, sumLine(text)}, {manifestName, string(text)}} {
		if _, err := p.create(ctx, m.Name+"/"+f.name, func(w io.Writer) error {
			_, err := io.WriteString(w, f.text)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// list returns the backups of a place that ended, the oldest first.
func list(ctx context.Context, p place) (all []Manifest, err error) {
	names, err := p.folders(ctx)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	for _, name := range names {
		if _, err := time.Parse(nameForm, name); err != nil {
			continue // not ours
		}
		m, err := readManifest(ctx, p, name)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// Bytes is the size of the backup.
func (m Manifest) Bytes() (n int64) {
	for _, s := range m.ClickHouse {
		n += int64(s.Size.Compressed)
	}
	for _, t := range m.Postgres.Tables {
		n += t.Object.Bytes
	}
	for _, f := range m.Files {
		n += f.Bytes
	}
	return n
}

// fileName is the copy of a file in a backup.
func fileName(backup string, id uuid.UUID) string { return backup + "/files/" + id.String() }
