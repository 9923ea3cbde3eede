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
)

// filler cuts the log of one partition into blocks: the next one while the worker stores the one before.
type filler struct {
	at      stream.Place // topic and partition
	cfg     Config
	log     *slog.Logger
	metrics *metrics
	buffer  *buffer
	turns   chan *turn

	queue   *queue
	window  *stream.Window
	decoder stream.Decoder
	pending []*kgo.Record // taken from the queue, not yet in a block
	ahead   int           // of the pending ones, how many the window expects
	started int64         // next when the assignment began: records before it fill the window only
	certain int64         // before it the log no longer holds the whole window before a record
	read    int64         // offset of the record to be seen next
	intent  int64         // a block announced by an earlier assignment, to be built exactly so
	block   *block        // that is being filled; nil: none is free

	done map[int64]stream.Identity // the last rows stored before started, by offset

	broken error           // the next record is for a newer release, or is not the stored one: nothing is read any further
	halt   func(why error) // makes the partition stand still

	unfed bool // nothing came while it had a turn: it asks for the next one when it has a record

	blocked  *atomic.Bool  // ClickHouse refuses the block before this one, so it needs no turn
	yielding chan struct{} // has one element after blocked was set

	end   atomic.Int64              // of the log, as of the last answer of a broker that had records
	since atomic.Pointer[time.Time] // when the first record of the block was read; nil: it is empty
}

// behindAge takes the place of the age of blocks while more than a block waits in the log: until then a block waits
// for its records, or for the turn that it needs to grow. Others have their turns for about as long as ClickHouse takes
// for their blocks.
const behindAge = 5 * time.Second

// backlogPart is the part of a block that waits in the log where there is something to catch up with.
const backlogPart = 20

// behind reports whether more than a block waits in the log.
func (f *filler) behind() bool { return f.end.Load()-f.read > int64(f.cfg.BlockRows) }

// backlog reports whether so much waits in the log that what is read next has waited there for a while.
func (f *filler) backlog() bool { return f.end.Load()-f.read > int64(f.cfg.BlockRows)/backlogPart }

// patient reports whether there is so much to catch up with that a block waits for its turn before anything is read for it:
// so the buffer is for those that have theirs, and their blocks get large however many partitions there are.
func (f *filler) patient() bool { return f.backlog() && !f.blocked.Load() }

// wantsMore reports whether more is to be fetched for the block, if nothing waits. While there is much to catch up with,
// nothing is that would wait for the turn of the next block and take memory meanwhile: the block ends when it is nearly full
// and what was fetched is used up. As a row a record takes less memory than it did before.
func (f *filler) wantsMore() bool {
	b := f.block
	switch {
	case f.intent != stream.NoIntent:
		return true
	case b.cost >= leastShare && f.buffer.full():
		return false
	case !f.patient():
		return true
	case b.turn == nil:
		return f.unfed
	default:
		return len(b.rows()) < f.cfg.BlockRows*4/5 && b.bytes < f.cfg.BlockBytes*4/5
	}
}

// run fills free blocks and hands them over until ctx or stopping ends, when it closes full. A block is handed
// over when it is full or, once it is of age, as soon as the worker has stored the one before: so blocks are small
// and soon stored when there is little to do, and grow when there is much.
func (f *filler) run(ctx context.Context, stopping <-chan struct{}, free <-chan *block, full chan<- *block) {
	defer close(full)
	age := time.NewTimer(f.cfg.BlockAge)
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
		past, ok := f.collect(ctx, stopping, age, full)
		if !ok {
			return
		}
		first, f.intent = past, stream.NoIntent
	}
}

// collect fills the block and hands it over. It returns the offset after it, or that the filler is to end.
func (f *filler) collect(ctx context.Context, stopping <-chan struct{}, age *time.Timer, full chan<- *block) (past int64, ok bool) {
	aged := false
	for {
		b := f.block
		var (
			arrived <-chan struct{}
			turns   <-chan *turn
			offer   chan<- *block
		)
		switch f.fill(age) {
		case hungry:
			arrived = f.queue.ready
			aged = aged || b.late && f.read >= f.end.Load()
		case confined:
			if !f.blocked.Load() {
				turns = f.turns
			}
		case complete:
			offer = full
		case halted:
			f.halt(f.broken)
			return 0, false
		}
		if aged && !b.empty() && f.intent == stream.NoIntent {
			offer = full
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
			f.since.Store(nil)
			return past, true
		case <-arrived:
		case t := <-turns:
			f.takeTurn(t, age)
		case <-f.yielding:
			b.giveTurn(f.turns)
		case <-age.C:
			aged = f.ofAge(age)
		case <-stopping:
			return 0, false
		case <-ctx.Done():
			return 0, false
		}
	}
}

// takeTurn lets the block grow. If nothing has been read for it yet, that is to come soon.
func (f *filler) takeTurn(t *turn, age *time.Timer) {
	f.block.turn = t
	if f.block.empty() {
		age.Reset(f.cfg.BlockAge)
	}
}

// ofAge reports whether the block has waited long enough, or sets the timer to when it will have.
func (f *filler) ofAge(age *time.Timer) bool {
	if f.block.empty() {
		if f.block.turn != nil { // whatever keeps its records away, others can use the turn
			f.block.giveTurn(f.turns)
			f.unfed = true
		}
		return false
	}
	limit := f.cfg.BlockAge
	if f.behind() {
		limit = max(limit, behindAge)
	}
	left := limit - time.Since(f.block.began)
	if left > 0 {
		age.Reset(min(left, f.cfg.BlockAge)) // it may have caught up by then
	}
	return left <= 0
}

// yield makes the filler give back the turn of its block, which has to wait for the one before.
func (f *filler) yield() {
	select {
	case f.yielding <- struct{}{}:
	default:
	}
}

// filling is what keeps a block from being filled any further.
type filling int

const (
	hungry   filling = iota // no more records wait
	confined                // it may not grow without a turn
	complete
	halted // the next record, or one of the announced block, is not to be stored: see broken
)

// fill moves waiting records into the block.
func (f *filler) fill(age *time.Timer) filling { //nolint:cyclop // one record after the other, each with its reasons to end a block
	b := f.block
	for {
		switch {
		case f.broken == nil:
		case b.empty() || f.intent != stream.NoIntent:
			return halted
		default:
			return complete
		}
		if len(f.pending) == 0 {
			more := f.wantsMore()
			f.pending = f.queue.take(more)
			switch {
			case len(f.pending) > 0:
			case more:
				return hungry
			case b.turn == nil:
				return confined
			default:
				return complete
			}
		}
		f.lookAhead()
		r := f.pending[0]
		switch {
		case f.intent != stream.NoIntent && r.Offset > f.intent:
			b.last = f.intent // the announced block ends in a hole of the log
			return complete
		case f.intent != stream.NoIntent: // an announced block is as large as it was
		case f.spans(r.Offset):
			return complete
		case b.turn == nil && (b.cost >= leastShare || f.patient()):
			return confined
		}
		f.pending[0], f.pending = nil, f.pending[1:]
		f.ahead--
		first, at := b.empty(), r.Offset
		f.admit(r)
		if first && !b.empty() {
			age.Reset(f.cfg.BlockAge) // the age is that of the block's first record
		}
		if f.intent != stream.NoIntent {
			if at == f.intent {
				return complete
			}
			continue
		}
		if len(b.rows()) >= f.cfg.BlockRows || b.bytes >= f.cfg.BlockBytes || f.spans(f.read) {
			return complete
		}
	}
}

// spans reports whether the block would be longer than the window of repeats with a record at the offset. The window
// then no longer holds the block's first records, and the look at what is stored (storedBefore) leaves out the block
// itself, so a repeat of one of them would not be recognised.
func (f *filler) spans(offset int64) bool {
	return !f.block.empty() && offset-f.block.start >= f.window.Size
}

// lookAhead tells the window of records that are about to come.
func (f *filler) lookAhead() {
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

// admit takes one record into the window of repeats and, unless it only warms that, into the block. The record is not to
// be used afterwards.
func (f *filler) admit(r *kgo.Record) {
	if f.use(r) {
		r.Recycle()
	}
}

// use does so, and reports whether nothing refers to the record any more.
func (f *filler) use(r *kgo.Record) bool {
	f.buffer.add(-queuedCost(r))
	if r.Offset < f.read {
		return true // a fetch that overlaps what was read
	}
	if r.Offset > f.read {
		// No broker of ours leaves holes: nothing compacts these topics and nothing writes
		// transactions to them. Whatever did this time, it is to be seen.
		f.metrics.gaps.Inc()
		f.log.Warn("offsets jump", "from", f.read, "to", r.Offset)
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
	repeats := err == nil && f.window.Repeats(d.Identity, r.Offset)
	if r.Offset < f.started {
		return true
	}
	b := f.block
	if b.empty() {
		b.start = r.Offset
		began := time.Now() // with the monotonic clock
		b.began = began
		f.since.Store(&began)
		b.late = f.backlog()
	}
	f.unfed = false
	b.last, b.epoch = r.Offset, r.LeaderEpoch
	b.count++
	b.bytes += len(r.Value)
	switch {
	case err != nil:
		b.dead = append(b.dead, newDeadLetter(r, err))
		b.take(f.buffer, queuedCost(r))
		return false
	case repeats:
		b.repeats++
	default:
		at := f.at
		at.Offset = r.Offset
		if b.table == nil && b.turn != nil {
			b.reserve(f.cfg.BlockRows)
		}
		b.add(f.decoder, at, d, r.Offset < f.certain)
		b.take(f.buffer, d.Size)
	}
	return true
}

// drop gives up what was read and not handed over.
func (f *filler) drop() {
	f.queue.close()
	for _, r := range f.pending {
		f.buffer.add(-queuedCost(r))
	}
	f.pending = nil
	if f.block != nil {
		f.block.release(f.buffer, f.turns)
	}
}
