package consumer

import (
	"math"

	"github.com/ClickHouse/ch-go/proto"
)

// textColumn is a LowCardinality(String): ch-go's own keeps a string for each row and looks them all up
// when it encodes them; this one looks up bytes when they are added, and keeps a number.
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

// Append adds a row.
func (c *textColumn) Append(text []byte) {
	number, known := c.numbers[string(text)]
	if !known {
		number = uint32(c.texts.Rows())
		c.numbers[string(text)] = number
		c.texts.AppendBytes(text)
	}
	c.keys = append(c.keys, number)
}

// AppendString adds a row; "" does not allocate.
func (c *textColumn) AppendString(text string) { c.Append([]byte(text)) }

// Row returns the text of a row.
func (c *textColumn) Row(i int) []byte { return c.texts.RowBytes(int(c.keys[i])) }

// Rows implements proto.ColInput.
func (c *textColumn) Rows() int { return len(c.keys) }

// Prepare implements proto.Preparable: it chooses the least size for the numbers.
func (c *textColumn) Prepare() error {
	switch most := c.texts.Rows() - 1; {
	case most <= math.MaxUint8:
		c.Key, c.Keys8 = proto.KeyUInt8, narrow(c.Keys8, c.keys)
	case most <= math.MaxUint16:
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
