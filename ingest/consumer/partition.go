package consumer

import (
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/stream"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
)

// partition is one assignment of a partition to this consumer. What it reads goes into the batches
// of its batcher.
type partition struct {
	assignment
	place   stream.Place // id of the topic, and number of the partition
	log     *slog.Logger
	metrics *metrics
	buffer  *buffer
	queue   *queue
	halt    func(why error) // makes the partition stand still

	givenBack atomic.Bool   // or lost: nothing more is announced for it
	stopping  atomic.Bool   // to be given back: what is announced is still stored
	progress  atomic.Int64  // next, for others to read
	end       atomic.Int64  // of the log, as of the last answer that had records
	blocked   atomic.Bool   // ClickHouse refuses its rows, or does not answer
	settled   chan struct{} // closed once it is given back in order
	batcher   atomic.Pointer[batcher]
	// refused is when the first of its rows was read that ClickHouse refuses. No more are read. nil:
	// none is refused.
	refused atomic.Pointer[time.Time]

	fillState
	storeState
}

// fillState is the state of a partition that belongs to the filling of batches.
type fillState struct {
	window         *stream.Window
	decoder        stream.Decoder
	hash           kafka.Hash // of keys
	pending        []*kgo.Record
	ahead          int   // of the pending ones, how many the window expects
	started        int64 // first offset to be stored: records before it fill the window only
	fullWindowFrom int64 // see position
	read           int64 // offset of the record to be seen next
	covered        int64 // offset after those that batches have
	span           *span // in the batch that is being filled
	within         *batch
	broken         bool // nothing more is read: the next record is of a newer release, or not the stored one

	partitions int // that keys are distributed over
	// successor says that an earlier topic had the name of this one. Its last records are before the
	// first window of this one, so the first records are looked for in ClickHouse, as those of a spool
	// are.
	successor bool

	done map[int64]stream.Identity // the last rows stored before started, by offset
}

// storeState is the state of a partition that belongs to the storing of batches.
type storeState struct {
	next       int64           // every offset below is stored
	epoch      int32           // of the leader that wrote the last record below next, or noEpoch
	lastStored int64           // the last row that earlier assignments stored: they store no more
	stored     *stream.Offsets // the offsets up to lastStored that a look found stored
	aside      []*batch        // its rows; ClickHouse refuses the first of them
	deadCount  int             // dead letters since the last line about them in the log
	deadLogged time.Time       // when that was
}

// lookAhead prefetches the window for the next records.
func (p *partition) lookAhead() {
	if p.ahead > 0 {
		return
	}
	var homes [stream.PrefetchMax]uint64
	p.ahead = min(len(p.pending), len(homes))
	for i, r := range p.pending[:p.ahead] {
		homes[i] = p.window.Hash(p.decoder.Peek(r.Value))
	}
	p.window.Prefetch(homes[:p.ahead])
}

// first returns where the partition's span of the batch begins, or would begin.
func (p *partition) first(b *batch) int64 {
	if p.within == b && p.span != nil {
		return p.span.first
	}
	return p.covered
}

// fits reports whether the batch takes the partition's next record. A span is not longer than the
// window of repeats: the window would no longer hold the span's first records, and the look at what
// is stored (dropStoredRepeats) leaves out the span itself, so a repeat of one of them would not be
// recognised.
func (p *partition) fits(b *batch) bool {
	if p.within != b || p.span == nil {
		return len(b.spans) < maxSpans
	}
	return p.pending[0].Offset-p.span.start < p.window.Size
}

// take moves waiting records into the batch, and reports whether the batch takes no more.
func (p *partition) take(b *batch, isFull func() bool) bool {
	for !p.broken {
		if isFull() { // before anything is taken that would wait here
			return true
		}
		if len(p.pending) == 0 {
			if p.pending = p.queue.take(); len(p.pending) == 0 {
				return false
			}
		}
		if !p.fits(b) {
			return true
		}
		p.lookAhead()
		r := p.pending[0]
		p.pending[0], p.pending = nil, p.pending[1:]
		p.ahead--
		if p.add(b, r) {
			r.Recycle()
		}
	}
	return false
}

// add takes one record into the window of repeats and, unless it only fills that, into the batch.
// It reports whether the record may be recycled: nothing refers to it any more.
func (p *partition) add(b *batch, r *kgo.Record) bool {
	p.buffer.add(-queuedCost(r))
	if r.Offset < p.read {
		return true // a fetch that overlaps what was read
	}
	p.advance(r.Offset)
	d, err := p.decoder.Decode(r.Value)
	newer := errors.Is(err, event.ErrNewer)
	if newer && r.Offset >= p.started {
		p.stop(&newerError{r.Offset, err})
		return true
	}
	if row, stored := p.done[r.Offset]; stored && !newer && (err != nil || d.Identity != row) {
		p.stop(&differsError{r.Offset, p.end.Load()})
		return true
	}
	to, strays := p.strayTo(r, err)
	var repeats, asked bool
	if err == nil && !strays {
		repeats, asked = p.repeats(b, d, r.Offset)
	}
	if r.Offset < p.started {
		return true
	}
	s, index := p.spanOf(b, r)
	b.bytes += len(r.Value)
	take := func(cost int64) {
		b.cost += cost
		p.buffer.add(cost)
	}
	switch {
	case strays:
		s.strays = append(s.strays, stray{r, to})
		take(queuedCost(r))
		return false
	case err != nil:
		s.dead = append(s.dead, newDeadLetter(r, err))
		take(queuedCost(r))
		return false
	case repeats:
		b.repeats++
	default:
		at := p.place
		at.Offset = r.Offset
		expired := r.Offset < p.fullWindowFrom
		if d.Spooled = d.Spooled || p.successor && !expired && r.Offset < p.window.Size; d.Spooled || expired {
			s.spooled = append(s.spooled, spooledRow{d, r.Offset, asked || expired && !d.Spooled})
		}
		b.add(p.decoder, index, at, d)
		b.follow(r)
		take(d.Size)
	}
	return true
}

// advance notes that the record at the offset is read. No broker of ours leaves holes: nothing
// compacts these topics and nothing writes transactions to them. Whatever did this time, it is to
// be seen.
func (p *partition) advance(offset int64) {
	if offset > p.read {
		p.metrics.gaps.Inc()
		p.log.Warn("gap in the offsets", "from_offset", p.read, "to_offset", offset)
	}
	p.read = offset + 1
}

// spanOf returns the partition's span of the batch, which takes the record.
func (p *partition) spanOf(b *batch, r *kgo.Record) (*span, uint16) {
	if p.within != b || p.span == nil {
		if b.empty() {
			b.began = time.Now() // with the monotonic clock
		}
		p.within, p.span = b, &span{of: p, first: p.covered, start: r.Offset, index: uint16(len(b.spans))}
		b.spans = append(b.spans, p.span)
	}
	p.span.last, p.span.epoch = r.Offset, r.LeaderEpoch
	p.covered = r.Offset + 1
	return p.span, p.span.index
}

// stop ends the reading: the partition stands still, once what was read before is stored.
func (p *partition) stop(why error) {
	p.broken = true
	p.halt(why)
}

// repeats notes the event of a record in the window. It reports whether the record repeats another
// one, or whether ClickHouse is to be asked: the one before a spooled record may be a dead letter
// that this build decodes, and has no row.
func (p *partition) repeats(b *batch, d stream.Record, offset int64) (repeats, asked bool) {
	before, found := p.window.Find(d.Identity, offset)
	asked = found && d.Spooled && before < p.first(b)
	return found && !asked, asked
}

// drop gives up what was read and not handed over.
func (p *partition) drop() {
	for _, r := range p.pending {
		p.buffer.add(-queuedCost(r))
	}
	p.pending = nil
}

// logRefused logs why ClickHouse does not take the partition's rows.
func (p *partition) logRefused(why error) {
	p.log.Error("ClickHouse refuses this partition's rows; it stands still until that is fixed",
		"next_offset", p.next, "error", why)
}

// A topic may have more partitions than are on record (kafka.Ledger), if someone added them in
// Kafka. Keys are distributed over the number on record. A collector that starts while Postgres is
// away goes by Kafka's number, and may write to an unused partition. Such a record is written to
// the partition of its key, marked as spooled, before the batch is stored: only there are repeats
// of the event recognised.

// stray is a record of an unused partition.
type stray struct {
	record *kgo.Record
	to     int32 // partition of its key
}

// strayTo returns the partition of the record's key if this partition is not used. A record that
// was not decoded stays where it is.
func (p *partition) strayTo(r *kgo.Record, decoded error) (to int32, ok bool) {
	if p.partitions == 0 || int(p.partition) < p.partitions || len(r.Key) == 0 || decoded != nil {
		return 0, false
	}
	return p.hash.Of(r.Key, p.partitions), true
}
