package eventlist

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"lodestone/query/memory"
	"lodestone/query/scope"
)

// Event is one event of a list.
type Event struct {
	ID           uuid.UUID // unique within the access link
	AccessLinkID uuid.UUID
	Type         string
	Data         []byte   // a JSON object
	IPHash       [16]byte // zero: withheld
	UserAgent    string   // empty: withheld
	Position     Position
}

// Lister reads event lists. It is safe for concurrent use.
type Lister struct {
	door    *scope.ClickHouse
	history *memory.Memory[*view]
	quiet   time.Duration // see quiet
	many    int64         // see many
	busy    int64         // see busy
}

// New returns a Lister that reads through the door.
func New(door *scope.ClickHouse) *Lister {
	return &Lister{door: door, history: memory.New[*view](mostRemembered), quiet: quiet, many: many, busy: busy}
}

// Settled returns a time up to which every event that was ever stored can be seen by what is read
// after this call: the next pull of what is new loses nothing if it goes on there. It is some seconds
// back, or as far as the longest insert that still runs.
func (l *Lister) Settled(ctx context.Context) (time.Time, error) { return l.door.Settled(ctx) }

// Count returns how many events of the account the filter lets through.
func (l *Lister) Count(ctx context.Context, account uuid.UUID, f Filter) (int64, error) {
	t, err := l.tally(ctx, account, f, false)
	return t.total, err
}

// Page returns up to limit events, newest first, after the first offset ones, and how many the list has. The
// count and the events may be a moment apart.
func (l *Lister) Page(ctx context.Context, account uuid.UUID, f Filter, offset, limit int64) ([]Event, int64, error) {
	if offset == 0 {
		return l.search(ctx, account, f, nil, limit)
	}
	return l.skip(ctx, account, f, offset, limit)
}

// After returns up to limit events, newest first, that come after the position, and how many the whole list
// has. Events that are stored meanwhile neither move nor hide the others.
func (l *Lister) After(ctx context.Context, account uuid.UUID, f Filter, p Position, limit int64) ([]Event, int64, error) {
	return l.search(ctx, account, f, &p, limit)
}

func (l *Lister) read(ctx context.Context, account uuid.UUID, s scope.Statement) ([]Event, error) {
	var events []Event
	err := l.door.Query(ctx, account, s, func(row scope.Row) error {
		var e Event
		var hash []byte
		var created time.Time
		err := row.Scan(&e.ID, &e.AccessLinkID, &e.Type, &e.Data, &hash, &e.UserAgent,
			&created, &e.Position.TopicID, &e.Position.Partition, &e.Position.Offset)
		if err != nil {
			return fmt.Errorf("read event: %w", err)
		}
		copy(e.IPHash[:], hash)
		e.Position.CreatedAt = created.UTC()
		events = append(events, e)
		return nil
	})
	return events, err
}
