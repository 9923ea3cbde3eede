package person

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"lodestone/pkg/blob"
	"lodestone/pkg/config"
)

// Entry is an erasure in the log. It has no address.
type Entry struct {
	Version   int       `json:"version"` // 1
	ID        uuid.UUID `json:"id"`
	AccountID uuid.UUID `json:"account_id"`
	PersonID  uuid.UUID `json:"person_id"` // zero: the account whole
	ErasedAt  time.Time `json:"erased_at"`

	// Links are the access links and submissions that were removed: a restored Postgres may never have
	// had them, while ClickHouse and Kafka have their events. They are empty until the removal is
	// about to commit.
	Links []uuid.UUID `json:"links,omitempty"`
}

const entryVersion = 1

// ofAccount reports whether the account was deleted whole.
func (e Entry) ofAccount() bool { return e.PersonID == uuid.Nil }

// Log is where erasures are on record outside the databases: one file or object each, so that any
// number of processes may write. It is safe for concurrent use.
type Log struct{ folder blob.Folder }

// OpenLog returns the log of the settings, or nil if there is none. It makes the directory, and
// does not connect to a bucket.
func OpenLog(c Config, s3 blob.Config) (*Log, error) {
	if c.Log == "" {
		return nil, nil
	}
	if _, bucket := blob.ParseLocation(c.Log); !bucket {
		if err := config.Writable("--erasure-log", c.Log); err != nil {
			return nil, err
		}
	}
	folder, err := blob.OpenFolder(c.Log, s3)
	if err != nil {
		return nil, fmt.Errorf("open erasure log: %w", err)
	}
	return &Log{folder}, nil
}

// Append returns when the entry would outlive a loss of power. It replaces an entry with the same
// id.
func (l *Log) Append(ctx context.Context, e Entry) error {
	text, err := json.Marshal(e)
	if err == nil {
		err = l.folder.Write(ctx, e.ID.String(), text)
	}
	if err != nil {
		return fmt.Errorf("append to erasure log: %w", err)
	}
	return nil
}

// IDs returns the ids of all entries, in no order. It reads none of them.
func (l *Log) IDs(ctx context.Context) (ids []uuid.UUID, err error) {
	names, err := l.folder.After(ctx, "")
	if err != nil {
		return nil, fmt.Errorf("list erasure log: %w", err)
	}
	for _, name := range names {
		// Others are of an append that did not end, or of someone else.
		if id, err := uuid.Parse(name); err == nil && id.String() == name {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// Entry returns one entry. The error names its file or object.
func (l *Log) Entry(ctx context.Context, id uuid.UUID) (e Entry, err error) {
	text, err := l.folder.Read(ctx, id.String())
	if err != nil {
		return e, fmt.Errorf("read erasure log: %w", err)
	}
	if e, err = decodeEntry(id, text); err != nil {
		return e, fmt.Errorf("read %s of erasure log: %w", l.folder.Address(id.String()), err)
	}
	return e, nil
}

func decodeEntry(id uuid.UUID, text []byte) (e Entry, err error) {
	err = json.Unmarshal(text, &e)
	switch {
	case err != nil:
	case e.Version != entryVersion:
		err = fmt.Errorf("it has version %d, and this program knows %d", e.Version, entryVersion)
	case e.ID != id:
		err = fmt.Errorf("it is entry %s", e.ID)
	}
	return e, err
}
