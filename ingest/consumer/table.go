package consumer

import (
	"time"

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

// decoded is what the consumer needs to know of a record, whatever it is a record of.
type decoded struct {
	identity
	account    uuid.UUID
	createdAt  int64 // Unix milliseconds
	receivedAt int64 // Unix milliseconds
	spooled    bool  // may repeat an event from far before the window
}

// table turns records of one topic into columns of one ClickHouse table. It is used by one
// goroutine at a time.
type table interface {
	// decode reads a record and keeps it until the next call. It is total: a record that cannot
	// become a row gives an error, whatever its bytes are, and nothing that decode accepted is
	// refused by ClickHouse for its values.
	decode(record []byte) (decoded, error)
	// add appends the record decoded last as a row.
	add(at origin)
	// rows returns how many rows there are since the last reset.
	rows() int
	// input returns the columns, for an insert that the server is to refuse once its clock shows
	// the time given. They stay valid until the next add or reset.
	input(before time.Time) proto.Input
	reset()
}

// stream ties a topic to its table.
type stream struct {
	topic string
	table string // in database lodestone
	link  string // column of identity.link
	make  func() table
}

// placeColumns are the columns that every table has: where the record stands in the log, and until
// when the server is to take the row.
type placeColumns struct {
	topicID      proto.ColUUID
	partition    proto.ColInt32
	offset       proto.ColInt64
	insertBefore *proto.ColDateTime64
}

func newPlaceColumns() placeColumns {
	return placeColumns{insertBefore: newMillis()}
}

func newMillis() *proto.ColDateTime64 {
	return new(proto.ColDateTime64).WithPrecision(proto.PrecisionMilli).WithLocation(time.UTC)
}

func (c *placeColumns) columns() proto.Input {
	return proto.Input{
		{Name: "kafka_topic_id", Data: &c.topicID},
		{Name: "kafka_partition", Data: &c.partition},
		{Name: "kafka_offset", Data: &c.offset},
		{Name: "insert_before", Data: c.insertBefore},
	}
}

func (c *placeColumns) add(at origin) {
	c.topicID.Append(at.topicID)
	c.partition.Append(at.partition)
	c.offset.Append(at.offset)
}

func (c *placeColumns) rows() int { return c.offset.Rows() }

// bound writes the end of the time for the insert into every row.
func (c *placeColumns) bound(before time.Time) {
	c.insertBefore.Reset()
	for range c.rows() {
		c.insertBefore.AppendRaw(proto.DateTime64(before.UnixMilli()))
	}
}
