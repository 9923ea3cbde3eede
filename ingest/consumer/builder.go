package consumer

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"lodestone/ingest/stream"

	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
)

// blockBuilder cuts the log of one partition into blocks: it builds the next block while the worker
// stores the one before.
type blockBuilder struct {
	at      stream.Place // topic and partition
	cfg     Config
	log     *slog.Logger
	metrics *metrics
	buffer  *buffer
	slots   chan *slot
	pace    *pace // of this consumer

	queue   *queue
	window  *stream.Window
	decoder stream.Decoder
	pending []*kgo.Record // taken from the queue, not yet in a block
	ahead   int           // of the pending ones, how many the window expects
	started int64         // next when the assignment began: records before it fill the window only
	certain int64         // before it the log no longer holds the full window before a record
	read    int64         // offset of the record to be seen next
	intent  int64         // a block announced by an earlier assignment, to be built exactly so
	block   *block        // that is being filled; nil: none is free

	partitions int        // that keys are distributed over
	hash       kafka.Hash // of keys
	// successor says that an earlier topic had the name of this one. Its last records are before the
	// first window of this one, so the first records are looked for in ClickHouse, as those of a spool
	// are.
	successor bool

	done map[int64]stream.Identity // the last rows stored before started, by offset

	broken error           // the next record is for a newer release, or is not the stored one: nothing is read any further
	halt   func(why error) // makes the partition stand still

	spread float64 // by which the shared age of the block is multiplied

	slotUnused bool // no record came while the block had a slot: the next record asks for one

	blocked    *atomic.Bool  // ClickHouse refuses the block before this one, which therefore needs no slot
	slotWanted chan struct{} // has one element after blocked was set

	end   atomic.Int64              // of the log, as of the last answer of a broker that had records
	since atomic.Pointer[time.Time] // when the first record of the block was read; nil: it is empty
}

// behindAge takes the place of the age of blocks while more than a block waits in the log: until
// then a block waits for its records, or for the slot that it needs to grow. Other partitions hold
// their slots for about as long as ClickHouse takes for their blocks.
const behindAge = 5 * time.Second

// backlogPart is the part of a block that waits in the log where there is something to catch up
// with.
const backlogPart = 20

// behind reports whether more than a block waits in the log.
func (f *blockBuilder) behind() bool { return f.end.Load()-f.read > int64(f.cfg.BlockRows) }

// backlog reports whether so much waits in the log that what is read next has waited there for a
// while.
func (f *blockBuilder) backlog() bool {
	return f.end.Load()-f.read > int64(f.cfg.BlockRows)/backlogPart
}

// waitsForSlot reports whether so much waits in the log that a block waits for a slot before
// anything is read for it: the buffer then belongs to the partitions with a slot, and their blocks
// grow large however many partitions there are.
func (f *blockBuilder) waitsForSlot() bool { return f.backlog() && !f.blocked.Load() }

// wantsMore reports whether more is to be fetched for the block, if nothing waits. While much waits
// in the log, nothing is fetched that would wait for the slot of the next block and take memory
// meanwhile: the block ends when it is nearly full and the fetched records are used up. As a row a
// record takes less memory than it did before.
func (f *blockBuilder) wantsMore() bool {
	b := f.block
	switch {
	case f.intent != stream.NoIntent:
		return true
	case b.cost >= minShare && f.buffer.full():
		return false
	case !f.waitsForSlot():
		return true
	case b.slot == nil:
		return f.slotUnused
	default:
		return len(b.rows()) < f.cfg.BlockRows*4/5 && b.bytes < f.cfg.BlockBytes*4/5
	}
}

// run fills free blocks and hands them over until ctx or stopping ends, when it closes built. A
// block is handed over when it is full or, once it is of age, as soon as the worker has stored the
// one before: so blocks are small and soon stored when there is little to do, and grow when there
// is much.
func (f *blockBuilder) run(ctx context.Context, stopping <-chan struct{}, free <-chan *block, built chan<- *block) {
	defer close(built)
	age := time.NewTimer(f.blockAge())
	defer age.Stop()
	for first := f.started; ; {
		select {
		case b := <-free:
			b.reset(first)
			f.block = b
		case <-stopping:
			return
		case <-ctx.Done():
			return
		}
		past, ok := f.collect(ctx, stopping, age, built)
		if !ok {
			return
		}
		first, f.intent = past, stream.NoIntent
	}
}

// collect fills the block and hands it over. It returns the offset after it, or that the builder is
// to end.
func (f *blockBuilder) collect(ctx context.Context, stopping <-chan struct{}, age *time.Timer, built chan<- *block) (past int64, ok bool) {
	aged := false
	for {
		b := f.block
		var (
			arrived <-chan struct{}
			slots   <-chan *slot
			offer   chan<- *block
		)
		switch f.fill(age) {
		case needsInput:
			arrived = f.queue.ready
			aged = aged || b.late && f.read >= f.end.Load()
		case needsSlot:
			if !f.blocked.Load() {
				slots = f.slots
			}
		case isFull:
			offer = built
		case mustHalt:
			f.halt(f.broken)
			return 0, false
		}
		if aged && !b.empty() && f.intent == stream.NoIntent {
			offer = built
		}
		select { // whoever is stopping is to begin nothing
		case <-stopping:
			return 0, false
		case <-ctx.Done():
			return 0, false
		default:
		}
		past = b.last + 1
		select {
		case offer <- b: // not to be touched from here on
			f.block = nil
			f.ended()
			return past, true
		case <-arrived:
		case granted := <-slots:
			f.useSlot(granted, age)
		case <-f.slotWanted:
			b.releaseSlot(f.slots)
		case <-age.C:
			aged = f.ofAge(age)
		case <-stopping:
			return 0, false
		case <-ctx.Done():
			return 0, false
		}
	}
}

// useSlot lets the block grow. If nothing has been read for it yet, a record has to come within the
// age of a block.
func (f *blockBuilder) useSlot(granted *slot, age *time.Timer) {
	f.block.slot = granted
	if f.block.empty() {
		age.Reset(f.blockAge())
	}
}

// ofAge reports whether the block has waited long enough, or sets the timer to when it will have.
func (f *blockBuilder) ofAge(age *time.Timer) bool {
	if f.block.empty() {
		if f.block.slot != nil { // whatever keeps its records away, others can use the slot
			f.block.releaseSlot(f.slots)
			f.slotUnused = true
		}
		return false
	}
	limit := f.blockAge()
	if f.behind() {
		limit = max(limit, behindAge)
	}
	left := limit - time.Since(f.block.began)
	if left > 0 {
		age.Reset(min(left, f.cfg.BlockAge)) // it may have caught up by then
	}
	return left <= 0
}

// fillState is why a block takes no further record at the moment.
type fillState int

const (
	needsInput fillState = iota // no more records wait
	needsSlot                   // it may not grow without a slot
	isFull
	mustHalt // the next record, or one of the announced block, is not to be stored: see broken
)

// fill moves waiting records into the block.
func (f *blockBuilder) fill(age *time.Timer) fillState {
	b := f.block
	for {
		switch {
		case f.broken == nil:
		case b.empty() || f.intent != stream.NoIntent:
			return mustHalt
		default:
			return isFull
		}
		if f.isComplete() {
			return isFull
		}
		if len(f.pending) == 0 {
			more := f.wantsMore()
			f.pending = f.queue.take(more)
			switch {
			case len(f.pending) > 0:
			case more:
				return needsInput
			case b.slot == nil:
				return needsSlot
			default:
				return isFull
			}
		}
		f.lookAhead()
		r := f.pending[0]
		switch {
		case f.intent != stream.NoIntent && r.Offset > f.intent:
			b.last = f.intent // the announced block ends in a hole of the log
			return isFull
		case f.intent != stream.NoIntent: // an announced block is as large as it was
		case f.spans(r.Offset):
			return isFull
		case b.slot == nil && (b.cost >= minShare || f.waitsForSlot()):
			return needsSlot
		}
		f.pending[0], f.pending = nil, f.pending[1:]
		f.ahead--
		first := b.empty()
		if f.add(r) {
			r.Recycle()
		}
		if first && !b.empty() {
			age.Reset(f.blockAge()) // the age is that of the block's first record
		}
	}
}

// isComplete reports whether the block takes no further record, whatever comes. That is asked for
// as long as the block waits for its worker, so it depends on the block alone: nothing else may
// come that would have it offered again.
func (f *blockBuilder) isComplete() bool {
	b := f.block
	if f.intent != stream.NoIntent { // an announced block is as large as it was
		return f.read > f.intent
	}
	return len(b.rows()) >= f.cfg.BlockRows || b.bytes >= f.cfg.BlockBytes || f.spans(f.read)
}

// spans reports whether the block would be longer than the window of repeats with a record at the
// offset. The window then no longer holds the block's first records, and the look at what is stored
// (dropStoredRepeats) leaves out the block itself, so a repeat of one of them would not be
// recognised.
func (f *blockBuilder) spans(offset int64) bool {
	return !f.block.empty() && offset-f.block.start >= f.window.Size
}

// lookAhead prefetches the window for the next records.
func (f *blockBuilder) lookAhead() {
	if f.ahead > 0 {
		return
	}
	var homes [stream.PrefetchMax]uint64
	f.ahead = min(len(f.pending), len(homes))
	for i, r := range f.pending[:f.ahead] {
		homes[i] = f.window.Hash(f.decoder.Peek(r.Value))
	}
	f.window.Prefetch(homes[:f.ahead])
}

// add takes one record into the window of repeats and, unless it only fills that, into the block.
// It reports whether the record may be recycled: nothing refers to it any more.
func (f *blockBuilder) add(r *kgo.Record) bool {
	f.buffer.add(-queuedCost(r))
	if r.Offset < f.read {
		return true // a fetch that overlaps what was read
	}
	if r.Offset > f.read {
		// No broker of ours leaves holes: nothing compacts these topics and nothing writes
		// transactions to them. Whatever did this time, it is to be seen.
		f.metrics.gaps.Inc()
		f.log.Warn("offsets jump", "from_offset", f.read, "to_offset", r.Offset)
	}
	f.read = r.Offset + 1
	d, err := f.decoder.Decode(r.Value)
	newer := errors.Is(err, event.ErrNewer)
	if newer && r.Offset >= f.started {
		f.broken = &newerError{r.Offset, err}
		return true
	}
	if row, stored := f.done[r.Offset]; stored && !newer && (err != nil || d.Identity != row) {
		f.broken = &differsError{r.Offset, f.end.Load()}
		return true
	}
	to, strays := f.strayTo(r, err)
	var repeats, asked bool
	if err == nil && !strays {
		repeats, asked = f.repeats(d, r.Offset)
	}
	if r.Offset < f.started {
		return true
	}
	b := f.block
	if b.empty() {
		b.start = r.Offset
		began := time.Now() // with the monotonic clock
		b.began = began
		f.begun(began)
		b.late = f.backlog()
	}
	f.slotUnused = false
	b.last, b.epoch = r.Offset, r.LeaderEpoch
	b.count++
	b.bytes += len(r.Value)
	switch {
	case strays:
		b.strays = append(b.strays, stray{r, to})
		b.take(f.buffer, queuedCost(r))
		return false
	case err != nil:
		b.dead = append(b.dead, newDeadLetter(r, err))
		b.take(f.buffer, queuedCost(r))
		return false
	case repeats:
		b.repeats++
	default:
		at := f.at
		at.Offset = r.Offset
		if b.table == nil && b.slot != nil {
			b.reserve(f.cfg.BlockRows)
		}
		expired := r.Offset < f.certain
		d.Spooled = d.Spooled || f.successor && !expired && r.Offset < f.window.Size
		b.add(f.decoder, at, d, expired, asked)
		b.follow(r)
		b.take(f.buffer, d.Size)
	}
	return true
}

// repeats notes the event of a record in the window. It reports whether the record repeats another
// one, or whether ClickHouse is to be asked: the one before a spooled record may be a dead letter
// that this build decodes, and has no row.
func (f *blockBuilder) repeats(d stream.Record, offset int64) (repeats, asked bool) {
	before, found := f.window.Find(d.Identity, offset)
	asked = found && d.Spooled && before < f.block.first
	return found && !asked, asked
}

// drop gives up what was read and not handed over.
func (f *blockBuilder) drop() {
	f.queue.close()
	for _, r := range f.pending {
		f.buffer.add(-queuedCost(r))
	}
	f.pending = nil
	f.ended()
	if f.block != nil {
		f.block.release(f.buffer, f.slots)
	}
}
