package consumer

import (
	"slices"
	"sync"
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
	size       int64 // bytes of memory that it takes as a row, roughly
}

// decoder reads the records of one topic. It is used by one goroutine.
type decoder interface {
	// decode reads a record and keeps it until the next call. It is total: a record that cannot
	// become a row gives an error, whatever its bytes are, and nothing that decode accepted is
	// refused by ClickHouse for its values.
	decode(record []byte) (decoded, error)
	// peek guesses the identity that decode is going to return for a record, in less time.
	peek(record []byte) identity
	// add appends the record decoded last as a row to a table of its stream. It keeps nothing of the
	// record's bytes.
	add(to table, at origin)
}

// table holds rows of one ClickHouse table, column by column. It is used by one goroutine at a time.
type table interface {
	// offsets returns the offset of each row, in the order of the rows.
	offsets() []int64
	// event returns whose event a row is: account, link, id and time.
	event(row int) decoded
	// addRow appends a row of another table of the same stream.
	addRow(from table, row int)
	// input returns the columns, for an insert that the server is to refuse once its clock shows
	// the time given. They stay valid until the next row or reset.
	input(before time.Time) proto.Input
	reset()
	// reserve makes room for so many rows.
	reserve(rows int)
}

// stream ties a topic to its table.
type stream struct {
	topic   string
	table   string // in database lodestone
	link    string // column of identity.link
	decoder func() decoder
	tables  *tables
}

// tables keeps tables that are not in use, so that the memory of their columns is used again, by
// whichever partition needs it; what nobody needs for long is given back.
type tables struct {
	empty func() table

	mu    sync.Mutex
	free  []table // the one used last at the end
	spare int     // how many were free all the time since trim
}

func newTables(empty func() table) *tables { return &tables{empty: empty} }

// take returns an empty table.
func (t *tables) take() table {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := len(t.free) - 1
	if last < 0 {
		return t.empty()
	}
	taken := t.free[last]
	t.free[last], t.free = nil, t.free[:last]
	t.spare = min(t.spare, last)
	return taken
}

// give takes a table back.
func (t *tables) give(used table) {
	used.reset()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.free = append(t.free, used)
}

// trim lets go of the tables that were not needed since it was called before.
func (t *tables) trim() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.free = slices.Delete(t.free, 0, t.spare)
	t.spare = len(t.free)
}

// copyRows returns a table with those rows whose offset wanted accepts.
func (t *tables) copyRows(from table, wanted func(offset int64) bool) table {
	to := t.take()
	for row, offset := range from.offsets() {
		if wanted(offset) {
			to.addRow(from, row)
		}
	}
	return to
}

// placeColumns are the columns that every table has: where the record stands in the log, and until
// when the server is to take the row.
type placeColumns struct {
	topicID      idColumn
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

func (c *placeColumns) addRow(from *placeColumns, row int) {
	c.topicID.AppendRow(from.topicID, row)
	c.partition.Append(from.partition[row])
	c.offset.Append(from.offset[row])
}

func (c *placeColumns) reserve(rows int) {
	c.topicID.reserve(rows)
	reserve(&c.partition, rows)
	reserve(&c.offset, rows)
	reserve(&c.insertBefore.Data, rows)
}

// reserve makes room for so many elements in all.
func reserve[S ~[]E, E any](s *S, all int) { *s = slices.Grow(*s, max(0, all-len(*s))) }

// bound writes the end of the time for the insert into every row.
func (c *placeColumns) bound(before time.Time) {
	c.insertBefore.Reset()
	for range c.offset {
		c.insertBefore.AppendRaw(proto.DateTime64(before.UnixMilli()))
	}
}
