package consumer

import (
	"fmt"
	"math"
	"slices"

	"github.com/google/uuid"
)

// block is a contiguous range of one partition on its way into ClickHouse. What is in it depends
// only on its range and on the log.
type block struct {
	first int64 // first offset that it covers
	last  int64 // last one
	bytes int   // of the records it covers
	count int   // of the records it covers

	oldest int64 // Unix milliseconds when the collector got the oldest of records

	cost int64 // of the records it covers, in the buffer

	records []row        // those that become rows, in order
	spooled []spooled    // those of records that came from a spool
	repeats int          // records dropped because they repeat an event
	dead    []deadLetter // records that cannot become rows
	table   table        // the rows of records
}

// row is a record that becomes one.
type row struct {
	offset int64
	value  []byte
}

// spooled is a record that may repeat an event from before the window of repeats.
type spooled struct {
	decoded
	offset int64
}

func (b *block) reset(first int64) {
	clear(b.records)
	b.spooled, b.oldest = b.spooled[:0], math.MaxInt64
	b.first, b.last, b.bytes, b.count, b.cost = first, first-1, 0, 0, 0
	b.records, b.repeats, b.dead = b.records[:0], 0, nil
	b.table.reset()
}

func (b *block) empty() bool { return b.count == 0 }

// token names the block's insert to ClickHouse, which stores one insert of a token only, for as
// long as it remembers. round tells inserts of the rows that were found missing later.
func (b *block) token(topicID uuid.UUID, partition int32, round int) string {
	token := fmt.Sprintf("%s:%d:%d-%d", topicID, partition, b.first, b.last)
	if round > 0 {
		token += fmt.Sprintf("#r%d", round)
	}
	return token
}

// drop takes the records of the offsets out of the block, as repeats.
func (b *block) drop(at origin, repeats map[int64]struct{}) error {
	b.records = slices.DeleteFunc(b.records, func(r row) bool {
		_, repeated := repeats[r.offset]
		return repeated
	})
	b.repeats += len(repeats)
	_, err := b.keep(at, nil)
	return err
}

// keep reduces the rows to those whose offset is not in stored, and returns how many are left.
// The records were decoded before, so decoding them again cannot fail.
func (b *block) keep(at origin, stored map[int64]struct{}) (int, error) {
	b.table.reset()
	for _, r := range b.records {
		if _, ok := stored[r.offset]; ok {
			continue
		}
		if _, err := b.table.decode(r.value); err != nil {
			return 0, fmt.Errorf("decode record %d a second time: %w", r.offset, err)
		}
		at.offset = r.offset
		b.table.add(at)
	}
	return b.table.rows(), nil
}
