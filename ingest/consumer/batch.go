package consumer

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"lodestone/ingest/stream"
	"lodestone/pkg/tracing"
)

// batch is rows of any number of partitions on their way into ClickHouse, and what else became of
// the records between. It is used by one goroutine at a time.
type batch struct {
	spans  []*span
	table  stream.Table // the rows; nil: none
	owner  []uint16     // of each row, the index of its span
	tables *stream.Tables

	bytes   int           // of the records
	began   time.Time     // when the first of its records was read; zero: it is empty
	oldest  int64         // Unix milliseconds when the collector got the oldest of its rows
	cost    int64         // of the records, in the buffer
	repeats int           // records dropped because they repeat an event
	traced  []recordTrace // some of the records whose requests are traced

	prepared bool // what comes before the insert is done
}

// span is the contiguous range of one partition in a batch.
type span struct {
	of    *partition
	first int64  // first offset that it covers
	last  int64  // last one
	start int64  // offset of the first record; after first if the log has a hole there
	epoch int32  // of the leader that wrote the last record, or noEpoch
	index uint16 // in the batch that is being filled

	spooled []spooledRow // those of the rows that came from a spool
	dead    []deadLetter // records that cannot become rows
	strays  []stray      // records that are another partition's
}

// spooledRow is a row that must be checked for repeats in ClickHouse: it waited in a spool, or the
// log no longer holds all of the window before it.
type spooledRow struct {
	stream.Record
	offset  int64
	anyTime bool // the event before may have any time: the window had it, or is not whole
}

// recordTrace is the place of a record in the trace of its request.
type recordTrace struct {
	request trace.SpanContext
	written time.Time
}

const (
	maxTraced = 100                // bounds the traces that a batch goes into
	maxSpans  = math.MaxUint16 + 1 // bounds the partitions of a batch
)

func newBatch(tables *stream.Tables) *batch { return &batch{tables: tables, oldest: math.MaxInt64} }

// empty reports whether no record has been read for the batch.
func (b *batch) empty() bool { return b.began.IsZero() }

// rows returns the number of rows.
func (b *batch) rows() int { return len(b.owner) }

// add makes the record that a decoder read last a row of a span.
func (b *batch) add(from stream.Decoder, index uint16, at stream.Place, d stream.Record) {
	if b.table == nil {
		b.table = b.tables.Take()
	}
	from.Add(b.table, at)
	b.owner = append(b.owner, index)
	b.oldest = min(b.oldest, d.ReceivedAt)
}

// keep takes all rows out of the batch but those that are wanted.
func (b *batch) keep(wanted func(row int) bool) {
	if b.table == nil {
		return
	}
	kept := make([]bool, len(b.owner))
	all := true
	for row := range kept {
		kept[row] = wanted(row)
		all = all && kept[row]
	}
	if all {
		return
	}
	rest := b.tables.Copy(b.table, func(row int) bool { return kept[row] })
	b.tables.Give(b.table)
	b.table = rest
	row := -1
	b.owner = slices.DeleteFunc(b.owner, func(uint16) bool { row++; return !kept[row] })
}

// remove takes spans out of the batch, with their rows.
func (b *batch) remove(unwanted func(*span) bool) {
	out := make([]bool, len(b.spans))
	left := make([]uint16, len(b.spans))
	var spans []*span
	for i, s := range b.spans {
		out[i], left[i] = unwanted(s), uint16(len(spans))
		if !out[i] {
			spans = append(spans, s)
		}
	}
	if len(spans) == len(b.spans) {
		return
	}
	b.keep(func(row int) bool { return !out[b.owner[row]] })
	for row := range b.owner {
		b.owner[row] = left[b.owner[row]]
	}
	b.spans = spans
}

// split returns a batch of one span and its rows, which leave this one.
func (b *batch) split(s *span) *batch {
	index := slices.Index(b.spans, s)
	alone := newBatch(b.tables)
	alone.spans, alone.began, alone.oldest, alone.prepared = []*span{s}, b.began, b.oldest, b.prepared
	of := func(row int) bool { return int(b.owner[row]) == index }
	if b.table != nil {
		alone.table = b.tables.Copy(b.table, of)
		alone.owner = make([]uint16, len(alone.table.Offsets()))
	}
	if all := b.rows(); all > 0 {
		alone.cost = b.cost * int64(alone.rows()) / int64(all)
		b.cost -= alone.cost
	}
	b.remove(func(other *span) bool { return other == s })
	return alone
}

// rowsOf returns the rows of each span.
func (b *batch) rowsOf() map[*span][]int {
	of := make(map[*span][]int, len(b.spans))
	for row, index := range b.owner {
		s := b.spans[index]
		of[s] = append(of[s], row)
	}
	return of
}

// partitions returns the partitions that have rows.
func (b *batch) partitions() []int32 {
	has := make([]bool, len(b.spans))
	for _, index := range b.owner {
		has[index] = true
	}
	var all []int32
	for i, s := range b.spans {
		if has[i] {
			all = append(all, s.of.partition)
		}
	}
	return all
}

// owners returns the partition of each span.
func (b *batch) owners() []*partition {
	all := make([]*partition, len(b.spans))
	for i, s := range b.spans {
		all[i] = s.of
	}
	return all
}

// release gives back what the batch has of the buffer, and its table: it is stored, or dropped.
func (b *batch) release(to *buffer) {
	to.add(-b.cost)
	if b.table != nil {
		b.tables.Give(b.table)
	}
	*b = batch{tables: b.tables, oldest: math.MaxInt64, owner: b.owner[:0]}
}

// follow notes the trace of a record's request, if the record has one.
func (b *batch) follow(r *kgo.Record) {
	if len(r.Headers) == 0 || len(b.traced) == maxTraced {
		return
	}
	for _, h := range r.Headers {
		if h.Key == tracing.HeaderName {
			if at := tracing.Parse(string(h.Value)); at.IsValid() {
				b.traced = append(b.traced, recordTrace{at, r.Timestamp})
			}
		}
	}
}

// trace begins a span in the trace of each traced record: from the write to Kafka to the end of the
// insert, which the server notes in the first one's trace. The function ends them.
func (b *batch) trace(ctx context.Context, by *tracing.Tracer) (context.Context, func()) {
	if by == nil || len(b.traced) == 0 {
		return ctx, func() {}
	}
	follow := func(t recordTrace) (context.Context, trace.Span) {
		return by.Follow(ctx, t.request, "store", t.written, attribute.Int("batch.partitions", len(b.spans)),
			attribute.Int("batch.rows", b.rows()))
	}
	within, first := follow(b.traced[0])
	spans := []trace.Span{first}
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
