package consumer

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"lodestone/ingest/stream"
	"lodestone/pkg/tracing"
)

// block is a contiguous range of one partition on its way into ClickHouse. What is in it depends
// only on its range and on the log.
type block struct {
	first int64 // first offset that it covers
	last  int64 // last one
	start int64 // offset of the first record; after first if the log has a hole there
	epoch int32 // of the leader that wrote the last record, or noEpoch
	bytes int   // of the records it covers
	count int   // of the records it covers

	began  time.Time // when the first of its records was read
	oldest int64     // Unix milliseconds when the collector got the oldest of its rows
	late   bool      // its records waited in the log before they were read

	cost int64 // of the records it covers, in the buffer
	slot *slot // of a large block; nil: none

	tables  *stream.Tables
	table   stream.Table // the rows; nil: none
	spooled []spooled    // those of the rows that came from a spool
	repeats int          // records dropped because they repeat an event
	dead    []deadLetter // records that cannot become rows
	strays  []stray      // records that are another partition's
	traced  []traced     // some of the records whose requests are traced
}

// traced is the place of a record in the trace of its request.
type traced struct {
	request trace.SpanContext
	written time.Time
}

// maxTraced bounds the traces that a block goes into.
const maxTraced = 100

// follow notes the trace of a record's request, if the record has one.
func (b *block) follow(r *kgo.Record) {
	if len(r.Headers) == 0 || len(b.traced) == maxTraced {
		return
	}
	for _, h := range r.Headers {
		if h.Key == tracing.HeaderName {
			if at := tracing.Parse(string(h.Value)); at.IsValid() {
				b.traced = append(b.traced, traced{at, r.Timestamp})
			}
		}
	}
}

// begin begins a span in the trace of each traced record: from the write to Kafka to the end of the
// insert, which the server notes in the first one's trace. The function ends them.
func (b *block) begin(ctx context.Context, by *tracing.Tracer) (context.Context, func()) {
	if by == nil || len(b.traced) == 0 {
		return ctx, func() {}
	}
	follow := func(t traced) (context.Context, trace.Span) {
		return by.Follow(ctx, t.request, "store", t.written, attribute.Int64("block.first_offset", b.first), attribute.Int64("block.last_offset", b.last), attribute.Int("block.rows", len(b.rows())))
	}
	within, span := follow(b.traced[0])
	spans := []trace.Span{span}
	for _, t := range b.traced[1:] {
		_, span := follow(t)
		spans = append(spans, span)
	}
	return within, func() {
		for _, span := range spans {
			span.End()
		}
	}
}

// spooled is a record of which only ClickHouse knows whether it repeats an event: it waited in a
// spool, or the log no longer holds all of the window before it.
type spooled struct {
	stream.Record
	offset  int64
	anyTime bool // the event before may have any time: it was in the window, or the window is not whole
}

// releaseSlot lets another block grow.
func (b *block) releaseSlot(slots chan<- *slot) {
	if b.slot != nil {
		slots <- b.slot
		b.slot = nil
	}
}

// reset makes a block that was released an empty one that begins at the offset.
func (b *block) reset(first int64) {
	*b = block{first: first, last: first - 1, epoch: noEpoch, oldest: math.MaxInt64, spooled: b.spooled[:0], traced: b.traced[:0], tables: b.tables}
}

func (b *block) empty() bool { return b.count == 0 }

// take counts what a record of the block costs.
func (b *block) take(from *buffer, cost int64) {
	b.cost += cost
	from.add(cost)
}

// release gives back what the block has of the buffer, its slot and its table: it is stored, or
// dropped.
func (b *block) release(to *buffer, slots chan<- *slot) {
	to.add(-b.cost)
	b.cost = 0
	b.releaseSlot(slots)
	if b.table != nil {
		b.tables.Give(b.table)
		b.table = nil
	}
}

// rows returns the offsets of the rows, in order.
func (b *block) rows() []int64 {
	if b.table == nil {
		return nil
	}
	return b.table.Offsets()
}

// maxReserved bounds the rows that memory is reserved for at once.
const maxReserved = 1 << 17

// reserve allocates memory for so many rows at once: growing in steps takes several times as much.
func (b *block) reserve(rows int) {
	b.table = b.tables.Take()
	b.table.Reserve(min(rows, maxReserved))
}

// add makes the record that was decoded last a row.
func (b *block) add(from stream.Decoder, at stream.Place, d stream.Record, expired, asked bool) {
	if b.table == nil {
		b.table = b.tables.Take()
	}
	from.Add(b.table, at)
	b.oldest = min(b.oldest, d.ReceivedAt)
	if d.Spooled || expired {
		b.spooled = append(b.spooled, spooled{d, at.Offset, asked || expired && !d.Spooled})
	}
}

// token names the block's insert to ClickHouse, which stores one insert of a token only, for as
// long as it remembers. round tells inserts of the rows that were found missing later.
func (b *block) token(topicID uuid.UUID, partition int32, round int) string {
	token := fmt.Sprintf("%s:%d:%d-%d", topicID, partition, b.first, b.last)
	if round > 0 {
		token += fmt.Sprintf("#r%d", round)
	}
	return token
}

// drop takes the rows of the offsets out of the block, as repeats.
func (b *block) drop(repeats map[int64]struct{}) {
	rest := b.tables.Copy(b.table, func(offset int64) bool {
		_, repeated := repeats[offset]
		return !repeated
	})
	b.tables.Give(b.table)
	b.table = rest
	b.repeats += len(repeats)
}

// missing returns a table of those rows whose offset is not in stored, which the caller gives back.
// The block keeps all of its rows: what was seen stored is looked up again after every try.
func (b *block) missing(stored *stream.Offsets) stream.Table {
	return b.tables.Copy(b.table, func(offset int64) bool { return !stored.Has(offset) })
}
