package consumer

import (
	"context"
	"fmt"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
)

// Offsets says of each offset of a range whether a look at ClickHouse found it stored. It takes a bit an
// offset, and never changes.
type Offsets struct {
	first, last int64
	bits        []uint64
}

func newOffsets(first, last int64) *Offsets {
	return &Offsets{first, last, make([]uint64, (last-first)/64+1)}
}

func (o *Offsets) add(offset int64) {
	i := offset - o.first
	o.bits[i/64] |= 1 << (i % 64)
}

// covers reports whether the look was at the whole range. A nil look was at nothing.
func (o *Offsets) covers(first, last int64) bool {
	return o != nil && o.first <= first && last <= o.last
}

// Has reports whether the offset was found. Outside of the range none was.
func (o *Offsets) Has(offset int64) bool {
	if !o.covers(offset, offset) {
		return false
	}
	i := offset - o.first
	return o.bits[i/64]&(1<<(i%64)) != 0
}

// whereOffsets selects the rows of a range of the partition's offsets.
const whereOffsets = " WHERE kafka_topic_id = {topic:UUID} AND kafka_partition = {partition:Int32}" +
	" AND kafka_offset >= {first:Int64} AND kafka_offset <= {last:Int64}"

// stored returns which offsets from first to last are stored.
func (s *store) stored(ctx context.Context, first, last int64) (*Offsets, error) {
	found := newOffsets(first, last)
	var column proto.ColInt64
	err := s.do(ctx, ch.Query{
		Body:       "SELECT kafka_offset FROM " + s.table + whereOffsets,
		Parameters: s.parameters(map[string]any{"first": first, "last": last}),
		Result:     proto.Results{{Name: "kafka_offset", Data: &column}},
		OnResult: func(context.Context, proto.Block) error {
			for _, offset := range column {
				found.add(offset)
			}
			return nil
		},
	})
	if err != nil {
		return nil, fmt.Errorf("read stored offsets: %w", err)
	}
	return found, nil
}
