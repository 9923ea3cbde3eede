package consumer

import (
	"encoding/binary"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/google/uuid"
)

// The columns below are kept as ClickHouse takes them, byte by byte, so that a block is sent from where it is. ch-go's own
// are encoded when the block is sent, into a buffer that is as large and stays as long as the connection.

// idBytes is the size of a UUID.
const idBytes = 16

// idColumn is a column of UUIDs: two numbers of eight bytes each, the least byte first.
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

func (c *idColumn) reserve(rows int) { reserve(c, rows*idBytes) }

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

// reserve makes room for so many rows of so many bytes each.
func (c *stringColumn) reserve(rows, bytes int) {
	reserve(&c.ends, rows)
	reserve(&c.sent, rows*bytes)
}

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
