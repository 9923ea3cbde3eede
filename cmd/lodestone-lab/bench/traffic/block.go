package traffic

import (
	"slices"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/google/uuid"

	"lodestone/ingest/stream"
	"lodestone/pkg/event"
)

// Block holds rows of lodestone.events for ch-go, in the columns of the consumer. It is used by one
// goroutine.
type Block struct {
	table    stream.Table
	decoder  stream.Decoder
	record   []byte
	stored   bool
	storedAt *proto.ColDateTime64
}

const storedAfter = 600 // ms

// events is shared by all blocks: it has the rules of user agents.
var events = stream.Events()

// NewBlock returns an empty block. If stored is true it has a column stored_at, some 600 ms after
// received_at: an insert needs the setting insert_allow_materialized_columns=1 for that. Else the
// server takes its own time.
func NewBlock(stored bool) *Block {
	return &Block{
		table: events.Tables.Take(), decoder: events.Decoder(), stored: stored,
		storedAt: new(proto.ColDateTime64).WithPrecision(proto.PrecisionMilli).WithLocation(time.UTC),
	}
}

// Append adds a row for the event at its place in the log. Events of a generator are sound, so they
// can be decoded.
func (b *Block) Append(e *event.Event, topic uuid.UUID, partition int32, offset int64) {
	b.record = e.Append(b.record[:0])
	_, _ = b.decoder.Decode(b.record)
	b.decoder.Add(b.table, stream.Place{TopicID: topic, Partition: partition, Offset: offset})
	b.storedAt.AppendRaw(proto.DateTime64(e.ReceivedAt + storedAfter))
}

// Rows returns how many rows there are since the last reset.
func (b *Block) Rows() int { return len(b.table.Offsets()) }

// Input returns the columns but for the consumer's fence. They stay valid until the next Append or
// Reset.
func (b *Block) Input() proto.Input {
	columns := slices.DeleteFunc(slices.Clone(b.table.Input(time.Time{})),
		func(c proto.InputColumn) bool { return c.Name == "insert_before" })
	if b.stored {
		columns = append(columns, proto.InputColumn{Name: "stored_at", Data: b.storedAt})
	}
	return columns
}

// Reset empties the block and keeps its memory.
func (b *Block) Reset() {
	b.table.Reset()
	b.storedAt.Reset()
}

// Log gives events their places in a log of some partitions, as Kafka does by the key of a record.
type Log struct {
	Topic   uuid.UUID
	offsets []int64
}

// NewLog returns an empty log.
func NewLog(topic uuid.UUID, partitions int) *Log { return &Log{topic, make([]int64, partitions)} }

// Place returns the next place for an event of the access link.
func (l *Log) Place(accessLink uuid.UUID) (partition int32, offset int64) {
	p := (int(accessLink[14])<<8 | int(accessLink[15])) % len(l.offsets)
	offset = l.offsets[p]
	l.offsets[p]++
	return int32(p), offset
}
