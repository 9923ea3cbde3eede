package eventlist

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/google/uuid"
)

// Position is the place of an event in the order of a list: by the time it was created, then by
// its place in the log, which no other event has.
type Position struct {
	CreatedAt time.Time // whole milliseconds
	TopicID   uuid.UUID
	Partition int32
	Offset    int64
}

// Cursor is a position together with the list that it is a place in. It is given to the client and
// comes back, so it is a place and never a permission.
type Cursor struct {
	List      string    `json:"l"`
	CreatedAt int64     `json:"c"` // Unix milliseconds
	TopicID   uuid.UUID `json:"t"`
	Partition int32     `json:"p"`
	Offset    int64     `json:"o"`
	// Settled is the result of Lister.Settled for the first page of the walk, in Unix microseconds.
	Settled int64 `json:"s"`
}

// Cursor returns the cursor of the account's list through this filter that goes on after p, of a
// walk that began when everything up to settled could be seen.
func (f Filter) Cursor(account uuid.UUID, p Position, settled time.Time) Cursor {
	return Cursor{f.digest(account), p.CreatedAt.UnixMilli(), p.TopicID, p.Partition, p.Offset, settled.UnixMicro()}
}

// Position returns where the cursor goes on, if it can be one of the account's list through this
// filter. The error says what is wrong with it to who sent it.
func (f Filter) Position(account uuid.UUID, c Cursor) (Position, error) {
	if c.List != f.digest(account) {
		return Position{}, errors.New(
			"belongs to another list: send the filters that it came with, or start without a cursor")
	}
	p := Position{time.UnixMilli(c.CreatedAt).UTC(), c.TopicID, c.Partition, c.Offset}
	if p.CreatedAt.Before(earliest) || p.CreatedAt.After(latest) || p.TopicID == uuid.Nil ||
		p.Partition < 0 || p.Offset < 0 ||
		c.Settled <= 0 || time.UnixMicro(c.Settled).After(latest) {
		return Position{}, errors.New("is not a cursor that this list returned")
	}
	return p, nil
}

// Key returns a short text that differs between filters.
func (f Filter) Key() string { return f.digest(uuid.Nil) }

// digest returns a short text that differs between accounts and between filters.
func (f Filter) digest(account uuid.UUID) string {
	h := sha256.New()
	h.Write(account[:])
	for _, c := range f.conditions() {
		for _, p := range c.params {
			h.Write([]byte(p.name + "=" + p.value + "\n"))
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
