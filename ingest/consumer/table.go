package consumer

import (
	"github.com/ClickHouse/ch-go/proto"
	"github.com/google/uuid"
)

// origin is where a record stands in the log.
type origin struct {
	topicID   uuid.UUID
	partition int32
	offset    int64
}

// identity tells an event from every other one: its access link (or generic link) and its id.
type identity struct {
	link  uuid.UUID
	event uuid.UUID
}

// table turns records of one topic into columns of one ClickHouse table. It is used by one
// goroutine at a time.
type table interface {
	// decode reads a record and keeps it until the next call. It is total: a record that cannot
	// become a row gives an error, whatever its bytes are, and nothing that decode accepted is
	// refused by ClickHouse for its values.
	decode(record []byte) (identity, error)
	// add appends the record decoded last as a row.
	add(at origin)
	// rows returns how many rows there are since the last reset.
	rows() int
	// input returns the columns. They stay valid until the next add or reset.
	input() proto.Input
	reset()
}

// stream ties a topic to its table.
type stream struct {
	topic string
	table string // in database lodestone
	make  func() table
}
