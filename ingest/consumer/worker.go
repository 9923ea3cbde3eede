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
// assignment can happen in a new one. It is two goroutines: the filler's, and one that stores what that
// hands over, block after block.
type worker struct {
	stream  stream
	at      origin // topic and partition
	cl      *kgo.Client
	cfg     Config
	log     *slog.Logger
	metrics *metrics
	store   *store
	buffer  *buffer
	turns   chan *turn
	filler  *filler

	block   *block    // that is being stored
	next    int64     // every offset below is stored
	doubt   int64     // up to here an earlier assignment may have stored rows
	dirty   bool      // next is not committed yet
	commits time.Time // when it was committed last
	ahead   *Offsets  // of the offsets up to doubt, what a look found stored

	progress atomic.Int64              // next, for others to read
	since    atomic.Pointer[time.Time] // when the first record of the block that is being stored was read; nil: none
	blocked  atomic.Bool               // ClickHouse refuses the block
	stopOnce sync.Once
	stopping chan struct{} // closed: finish the block that is announced, and end
	cancel   context.CancelFunc
	done     chan struct{}
}

// blocksOfOne is how many blocks a partition has: one is filled while another is stored.
const blocksOfOne = 2

// run is the worker's life. intent is the end of a block that an earlier assignment announced.
func (w *worker) run(ctx context.Context, intent int64) {
	defer close(w.done)
	defer w.store.close()
	defer w.drop()
	if !w.recover(ctx, intent) {
		return
	}
	free, full := make(chan *block, blocksOfOne), make(chan *block)
	for range blocksOfOne {
		free <- &block{tables: w.stream.tables}
	}
	filling, stopFilling := context.WithCancel(ctx)
	var filler sync.WaitGroup
	filler.Go(func() { w.filler.run(filling, w.stopping, free, full) })
	ok := w.storeAll(ctx, full, free)
	stopFilling()
	filler.Wait()
	if ok && w.dirty && ctx.Err() == nil {
		w.commit(ctx, w.next, noIntent)
	}
}

// drop gives up what the worker has read and not stored.
func (w *worker) drop() {
	w.filler.drop()
	if w.block != nil {
		w.block.release(w.buffer, w.turns)
	}
}

// stop asks the worker to end: with grace it finishes a block that it announced, else it drops it
// where it is, which the next owner finds out.
func (w *worker) stop(grace bool) {
	w.stopOnce.Do(func() { close(w.stopping) })
	if !grace {
		w.cancel()
	}
}

// waiting returns how long the oldest record that was read has been waiting to be stored.
func (w *worker) waiting() time.Duration {
	since := w.since.Load()
	if since == nil {
		since = w.filler.since.Load()
	}
	if since == nil {
		return 0
	}
	return time.Since(*since)
}

// storeAll stores the blocks that come, and gives them back. It reports whether that ended in order.
func (w *worker) storeAll(ctx context.Context, full <-chan *block, free chan<- *block) bool {
	idle := time.NewTimer(idleCommit)
	defer idle.Stop()
	for {
		idle.Reset(idleCommit)
		select {
		case b, more := <-full:
			if !more {
				return true
			}
			w.block = b
			w.since.Store(&b.began)
			if !w.finish(ctx) {
				return false
			}
			w.block = nil
			w.since.Store(nil)
			b.release(w.buffer, w.turns)
			free <- b
		case <-idle.C:
			if w.dirty && w.filler.since.Load() == nil && !w.commit(ctx, w.next, noIntent) {
				return false
			}
		case <-ctx.Done():
			return false
		}
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
	rows := len(b.rows())
	if !stored && rows > 0 && !w.insert(ctx) {
		return false
	}
	w.next, w.dirty = b.last+1, true
	w.progress.Store(w.next)
	w.metrics.blocks.Inc()
	if rows > 0 {
		w.metrics.freshness.Observe(max(0, float64(time.Now().UnixMilli()-b.oldest)/1000)) // the collector has a clock of its own
	}
	w.metrics.rows.Add(float64(rows))
	w.metrics.repeats.Add(float64(b.repeats))
	for _, letter := range b.dead {
		w.metrics.deadLetters.WithLabelValues(letter.reason).Inc()
	}
	if stored && time.Since(w.commits) > idleCommit {
		return w.commit(ctx, w.next, noIntent) // as announcing the block would have done
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
		b.drop(repeats)
		return nil
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
