// Package stream is the common ground of programs that store, check or repair events: how the
// records of a topic are decoded and become rows of a ClickHouse table, which records repeat an
// event, what a commit of the consumer group says, and how the rows of one partition are inserted
// and looked up.
//
// It also holds what these programs agree on: the names of browsers and operating systems, what
// counts as a view of a landing page, and the shard on which the rows of a partition are.
//
// The consumer stores with it; the tools of operators decide with it about the consumer's work.
package stream

import (
	"errors"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/google/uuid"

	"lodestone/pkg/event"
)

// Place is where a record stands in the log.
type Place struct {
	TopicID   uuid.UUID
	Partition int32
	Offset    int64
}

// Identity tells an event from every other one: its access link (or generic link) and its id.
type Identity struct {
	Link  uuid.UUID
	Event uuid.UUID
}

// Record holds the fields that the consumer needs of any kind of record.
type Record struct {
	Identity
	Account    uuid.UUID
	CreatedAt  int64 // Unix milliseconds
	ReceivedAt int64 // Unix milliseconds
	Spooled    bool  // may repeat an event from far before the window
	Size       int64 // bytes of memory that it takes as a row, roughly
}

// Decoder reads the records of one topic. It is used by one goroutine.
type Decoder interface {
	// Decode reads a record and keeps it until the next call. It is total: a record that cannot
	// become a row gives an error, whatever its bytes are, and nothing that Decode accepted is
	// refused by ClickHouse for its values.
	Decode(record []byte) (Record, error)
	// Peek guesses the identity that Decode is going to return for a record, in less time.
	Peek(record []byte) Identity
	// Add appends the record decoded last as a row to a table of its stream. It keeps nothing of the
	// record's bytes.
	Add(to Table, at Place)
}

// Table holds rows of one ClickHouse table, column by column. It is used by one goroutine at a
// time.
type Table interface {
	// Offsets returns the offset of each row, in the order of the rows.
	Offsets() []int64
	// Partitions returns the partition of each row.
	Partitions() []int32
	// Record returns whose event a row is: account, link, id and time.
	Record(row int) Record
	// addRow appends a row of another table of the same stream.
	addRow(from Table, row int)
	// Input returns the columns, for an insert that the server is to refuse once its clock shows
	// the time given. They stay valid until the next row or reset.
	Input(before time.Time) proto.Input
	// Reset removes all rows and keeps the memory.
	Reset()
}

// Stream ties a topic to its table. Its copies share the pool of tables.
type Stream struct {
	Topic   string
	Table   string         // in database lodestone
	Link    string         // column of Identity.Link
	Decoder func() Decoder // returns a new decoder of the records
	Tables  *Tables        // empty tables of the rows

	decoder func(ErasedIDs) Decoder
	blanked func(record []byte, erased ErasedIDs) []byte
}

// ErasedIDs tells the access links of people, and the accounts, that were erased.
type ErasedIDs interface{ Has(id uuid.UUID) bool }

// noOne is no one.
type noOne struct{}

func (noOne) Has(uuid.UUID) bool { return false }

// Blanking returns the stream with decoders that blank what was erased: of an event, only the page
// and the times stay. Nil is no one.
func (s Stream) Blanking(erased ErasedIDs) Stream {
	if erased != nil {
		s.Decoder = func() Decoder { return s.decoder(erased) }
	}
	return s
}

// Blank returns a record of the topic for writing it again: without what was erased, as Blanking
// stores it, or as it is.
func (s Stream) Blank(record []byte, erased ErasedIDs) []byte { return s.blanked(record, erased) }

// All returns every stream that a consumer works on.
func All() []Stream { return []Stream{Events(), LinkViews()} }

// Of returns the stream of a topic.
func Of(topic string) (Stream, bool) {
	for _, s := range All() {
		if s.Topic == topic {
			return s, true
		}
	}
	return Stream{}, false
}

// Reasons of dead letters.
const (
	ReasonMalformed = "malformed" // the bytes are no record
	ReasonInvalid   = "invalid"   // a record, but no event
)

// Reason returns the reason of a dead letter for an error of Decode: one of a small fixed set.
func Reason(err error) string {
	if errors.Is(err, event.ErrInvalid) {
		return ReasonInvalid
	}
	return ReasonMalformed
}
