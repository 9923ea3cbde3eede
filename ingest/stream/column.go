package stream

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/google/uuid"
)

// The columns below are kept as ClickHouse takes them, byte by byte, so that a block is sent from
// where it is. ch-go's own are encoded when the block is sent, into a buffer that is as large and
// stays as long as the connection.

// idBytes is the size of a UUID.
const idBytes = 16

// idColumn is a column of UUIDs: two numbers of eight bytes each, the lowest byte first.
type idColumn []byte

// Append adds a row.
func (c *idColumn) Append(id uuid.UUID) {
	*c = binary.LittleEndian.AppendUint64(*c, binary.BigEndian.Uint64(id[:8]))
	*c = binary.LittleEndian.AppendUint64(*c, binary.BigEndian.Uint64(id[8:]))
}

// Row returns a row.
func (c *idColumn) Row(row int) (id uuid.UUID) {
	from := (*c)[row*idBytes:]
	binary.BigEndian.PutUint64(id[:8], binary.LittleEndian.Uint64(from))
	binary.BigEndian.PutUint64(id[8:], binary.LittleEndian.Uint64(from[8:]))
	return id
}

// AppendRow adds a row of another column.
func (c *idColumn) AppendRow(from idColumn, row int) {
	*c = append(*c, from[row*idBytes:(row+1)*idBytes]...)
}

// Type implements proto.ColInput.
func (*idColumn) Type() proto.ColumnType { return proto.ColumnTypeUUID }

// Rows implements proto.ColInput.
func (c *idColumn) Rows() int { return len(*c) / idBytes }

// EncodeColumn implements proto.ColInput, for a connection that compresses.
func (c *idColumn) EncodeColumn(b *proto.Buffer) { b.PutRaw(*c) }

// WriteColumn implements proto.ColInput.
func (c *idColumn) WriteColumn(w *proto.Writer) { w.ChainWrite(*c) }

// Reset implements proto.Resettable.
func (c *idColumn) Reset() { *c = (*c)[:0] }

// stringColumn is a column of strings, each after its length.
type stringColumn struct {
	sent []byte
	ends []uint32 // of each row in sent: blocks are far below 4 GiB
}

// Append adds a row.
func (c *stringColumn) Append(text []byte) {
	c.sent = binary.AppendUvarint(c.sent, uint64(len(text)))
	c.sent = append(c.sent, text...)
	c.end()
}

// AppendRow adds a row of another column.
func (c *stringColumn) AppendRow(from *stringColumn, row int) {
	begin := uint32(0)
	if row > 0 {
		begin = from.ends[row-1]
	}
	c.sent = append(c.sent, from.sent[begin:from.ends[row]]...)
	c.end()
}

func (c *stringColumn) end() { c.ends = append(c.ends, uint32(len(c.sent))) }

// Type implements proto.ColInput.
func (*stringColumn) Type() proto.ColumnType { return proto.ColumnTypeString }

// Rows implements proto.ColInput.
func (c *stringColumn) Rows() int { return len(c.ends) }

// EncodeColumn implements proto.ColInput, for a connection that compresses.
func (c *stringColumn) EncodeColumn(b *proto.Buffer) { b.PutRaw(c.sent) }

// WriteColumn implements proto.ColInput.
func (c *stringColumn) WriteColumn(w *proto.Writer) { w.ChainWrite(c.sent) }

// Reset implements proto.Resettable.
func (c *stringColumn) Reset() { c.sent, c.ends = c.sent[:0], c.ends[:0] }

// textColumn is a LowCardinality(String): ch-go's own keeps a string for each row and looks them
// all up when it encodes them; this one looks up bytes when they are added, and keeps a number.
type textColumn struct {
	proto.ColLowCardinalityRaw
	texts   proto.ColStr
	numbers map[string]uint32
	keys    []uint32
}

func newTextColumn() *textColumn {
	c := &textColumn{numbers: map[string]uint32{}}
	c.Index = &c.texts
	return c
}

// Append adds a row and returns the number of its text. Numbers count up from zero.
func (c *textColumn) Append(text []byte) uint32 {
	number := c.number(text)
	c.keys = append(c.keys, number)
	return number
}

// number returns the number of a text.
func (c *textColumn) number(text []byte) uint32 {
	number, known := c.numbers[string(text)]
	if !known {
		number = uint32(c.texts.Rows())
		c.numbers[string(text)] = number
		c.texts.AppendBytes(text)
	}
	return number
}

// AppendString adds a row; "" does not allocate.
func (c *textColumn) AppendString(text string) { c.Append([]byte(text)) }

// Row returns the text of a row.
func (c *textColumn) Row(i int) []byte { return c.texts.RowBytes(int(c.keys[i])) }

// Rows implements proto.ColInput.
func (c *textColumn) Rows() int { return len(c.keys) }

// Prepare implements proto.Preparable: it chooses the smallest size for the numbers.
func (c *textColumn) Prepare() error {
	switch highest := c.texts.Rows() - 1; {
	case highest <= math.MaxUint8:
		c.Key, c.Keys8 = proto.KeyUInt8, narrow(c.Keys8, c.keys)
	case highest <= math.MaxUint16:
		c.Key, c.Keys16 = proto.KeyUInt16, narrow(c.Keys16, c.keys)
	default:
		c.Key, c.Keys32 = proto.KeyUInt32, narrow(c.Keys32, c.keys)
	}
	return nil
}

func narrow[T ~uint8 | ~uint16 | ~uint32](to []T, from []uint32) []T {
	to = to[:0]
	for _, v := range from {
		to = append(to, T(v))
	}
	return to
}

// Reset implements proto.Resettable.
func (c *textColumn) Reset() {
	c.ColLowCardinalityRaw.Reset()
	clear(c.numbers)
	c.keys = c.keys[:0]
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

func (c *placeColumns) add(at Place) {
	c.topicID.Append(at.TopicID)
	c.partition.Append(at.Partition)
	c.offset.Append(at.Offset)
}

func (c *placeColumns) addRow(from *placeColumns, row int) {
	c.topicID.AppendRow(from.topicID, row)
	c.partition.Append(from.partition[row])
	c.offset.Append(from.offset[row])
}

// bound writes the end of the time for the insert into every row.
func (c *placeColumns) bound(before time.Time) {
	c.insertBefore.Reset()
	for range c.offset {
		c.insertBefore.AppendRaw(proto.DateTime64(before.UnixMilli()))
	}
}
