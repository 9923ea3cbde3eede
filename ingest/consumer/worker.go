package consumer

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// idleCommit is how long a finished block's end waits for the next block, whose commit would say
// the same, before it is committed alone.
const idleCommit = 200 * time.Millisecond

// worker stores one partition for as long as this consumer owns it: one assignment, one worker.
// It is stopped and waited for before the partition is given up, so that nothing of an old
// assignment can happen in a new one.
type worker struct {
	stream  stream
	at      origin // topic and partition
	cl      *kgo.Client
	cfg     Config
	log     *slog.Logger
	metrics *metrics
	store   *store
	queue   *queue
	buffer  *buffer

	window  *window
	block   *block
	pending []*kgo.Record // taken from the queue, not yet in a block
	started int64         // next when the assignment began: records before it fill the window only
	read    int64         // offset of the record to be seen next
	next    int64         // every offset below is stored
	intent  int64         // a block announced by an earlier assignment, to be built exactly so
	doubt   int64         // up to here an earlier assignment may have stored rows
	dirty   bool          // next is not committed yet
	commits time.Time     // when it was committed last
	ahead   *ahead        // of the offsets up to doubt, what a look found stored

	progress atomic.Int64              // next, for others to read
	since    atomic.Pointer[time.Time] // when the oldest record that is not stored yet was read; nil: none
	blocked  atomic.Bool               // ClickHouse refuses the block
	stopOnce sync.Once
	stopping chan struct{} // closed: finish the block that is announced, and end
	cancel   context.CancelFunc
	done     chan struct{}
}

// run is the worker's life.
func (w *worker) run(ctx context.Context) {
	defer close(w.done)
	defer w.store.close()
	defer w.drop()
	if !w.recover(ctx) {
		return
	}
	for w.collect(ctx) {
		if !w.finish(ctx) {
			return
		}
	}
	if w.dirty && ctx.Err() == nil {
		w.commit(ctx, noIntent)
	}
}

// drop gives up what the worker has read and not stored.
func (w *worker) drop() {
	w.queue.close()
	left := w.block.cost
	for _, r := range w.pending {
		left += costOf(r)
	}
	w.buffer.add(-left)
	w.pending, w.block.cost = nil, 0
}

// stop asks the worker to end: with grace it finishes a block that it announced, else it drops it
// where it is, which the next owner finds out.
func (w *worker) stop(grace bool) {
	w.stopOnce.Do(func() { close(w.stopping) })
	if !grace {
		w.cancel()
	}
}

// collect fills the block and reports whether there is one; if not, the worker is to end.
func (w *worker) collect(ctx context.Context) bool {
	w.block.reset(w.next)
	age := time.NewTimer(w.cfg.BlockAge)
	defer age.Stop()
	idle := time.NewTimer(idleCommit)
	defer idle.Stop()
	for {
		if w.fill(age) {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-w.stopping:
			return false
		default:
		}
		select {
		case <-w.queue.ready:
		case <-age.C:
			if !w.block.empty() && w.intent == noIntent {
				return true
			}
			age.Reset(w.cfg.BlockAge)
		case <-idle.C:
			if w.dirty && w.block.empty() && !w.commit(ctx, noIntent) {
				return false
			}
		case <-w.stopping:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// fill moves waiting records into the block and reports whether it is full.
func (w *worker) fill(age *time.Timer) bool {
	for {
		if len(w.pending) == 0 {
			w.pending = w.queue.take()
			if len(w.pending) == 0 {
				return false
			}
		}
		r := w.pending[0]
		if w.intent != noIntent && r.Offset > w.intent {
			w.block.last = w.intent // the announced block ends in a hole of the log
			return true
		}
		w.pending[0], w.pending = nil, w.pending[1:]
		first := w.block.empty()
		w.admit(r)
		if first && !w.block.empty() {
			age.Reset(w.cfg.BlockAge) // the age is that of the block's first record
		}
		if w.intent != noIntent {
			if r.Offset == w.intent {
				return true
			}
			continue
		}
		if len(w.block.records) >= w.cfg.BlockRows || w.block.bytes >= w.cfg.BlockBytes || w.block.cost >= leastShare && w.buffer.tight() {
			return true
		}
	}
}

// admit takes one record into the window of repeats and, unless it only warms that, into the block.
func (w *worker) admit(r *kgo.Record) {
	if r.Offset < w.read {
		w.buffer.add(-costOf(r))
		return // a fetch that overlaps what was read
	}
	if r.Offset > w.read {
		// No broker of ours leaves holes: nothing compacts these topics and nothing writes
		// transactions to them. Whatever did this time, it is to be seen.
		w.metrics.gaps.Inc()
		w.log.Warn("offsets jump", "from", w.read, "to", r.Offset)
	}
	w.read = r.Offset + 1
	d, err := w.block.table.decode(r.Value)
	repeats := err == nil && w.window.repeats(d.identity, r.Offset) && !disableWindow
	if r.Offset < w.started {
		w.buffer.add(-costOf(r))
		return
	}
	b := w.block
	if b.empty() {
		now := time.Now() // with the monotonic clock
		w.since.Store(&now)
	}
	b.last = r.Offset
	b.count++
	b.bytes += len(r.Value)
	b.cost += costOf(r)
	switch {
	case err != nil:
		b.dead = append(b.dead, newDeadLetter(r, err))
	case repeats:
		b.repeats++
	default:
		b.records = append(b.records, row{r.Offset, r.Value})
		b.oldest = min(b.oldest, d.receivedAt)
		if d.spooled {
			b.spooled = append(b.spooled, spooled{d, r.Offset})
		}
		at := w.at
		at.offset = r.Offset
		b.table.add(at)
	}
}

// finish stores the block and reports whether the worker may go on.
func (w *worker) finish(ctx context.Context) bool {
	b := w.block
	if len(b.dead) > 0 && !w.bury(ctx) {
		return false
	}
	stored, ok := w.isStored(ctx)
	if !ok {
		return false
	}
	if len(b.spooled) > 0 && !w.dropOld(ctx) {
		return false
	}
	if !stored && len(b.records) > 0 && !w.insert(ctx) {
		return false
	}
	w.next, w.dirty, w.intent = b.last+1, true, noIntent
	w.progress.Store(w.next)
	w.since.Store(nil)
	w.buffer.add(-b.cost)
	b.cost = 0
	w.metrics.blocks.Inc()
	if len(b.records) > 0 {
		w.metrics.freshness.Observe(max(0, float64(time.Now().UnixMilli()-b.oldest)/1000)) // the collector has a clock of its own
	}
	w.metrics.rows.Add(float64(len(b.records)))
	w.metrics.repeats.Add(float64(b.repeats))
	for _, letter := range b.dead {
		w.metrics.deadLetters.WithLabelValues(letter.reason).Inc()
	}
	if stored && time.Since(w.commits) > idleCommit {
		return w.commit(ctx, noIntent) // as announcing the block would have done
	}
	return true
}

// maxLook bounds a look that a dead connection keeps from ending.
const maxLook = 5 * time.Minute

// dropOld takes out of the block what came from a spool and is stored since long: the sender gave
// the spooling collector up and sent again, maybe hours ago. What is stored below the block never
// changes, so this decides the same whenever the block is built.
func (w *worker) dropOld(ctx context.Context) bool {
	b := w.block
	limit := w.cfg.InsertTimeout
	return w.retry(ctx, "look for events stored long ago", func() error {
		limited, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		// It only reads, so it may take as long as it needs: a server that is slow for having much to
		// do would otherwise be asked the same over and over, and never answer.
		limit = min(2*limit, maxLook)
		events := make([]decoded, len(b.spooled))
		for i, s := range b.spooled {
			events[i] = s.decoded
		}
		found, err := w.store.storedBefore(limited, events, b.first)
		if err != nil || len(found) == 0 {
			return err
		}
		repeats := map[int64]struct{}{}
		for _, s := range b.spooled {
			if _, stored := found[s.identity]; stored {
				repeats[s.offset] = struct{}{}
			}
		}
		return b.drop(w.at, repeats)
	})
}

// bury writes the block's dead letters. They come before the insert: once the block is stored,
// nobody looks at its records again.
func (w *worker) bury(ctx context.Context) bool {
	for _, letter := range w.block.dead {
		w.log.Warn("record cannot become a row", "offset", letter.record.Offset, "reason", letter.reason, "error", letter.err)
	}
	return w.retry(ctx, "write dead letters", func() error {
		return produceDeadLetters(ctx, w.cl, w.block.dead, w.at)
	})
}
