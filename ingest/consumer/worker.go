package consumer

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"lodestone/ingest/stream"

	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/logbook"
)

// idleCommit is how long a finished block's end waits for the next block, whose commit would say
// the same, before it is committed alone.
const idleCommit = 200 * time.Millisecond

// worker stores one partition for as long as this consumer owns it: one assignment, one worker.
// It is stopped and waited for before the partition is given up, so that nothing of an old
// assignment can happen in a new one. It is two goroutines: the filler's, and one that stores what that
// hands over, block after block.
type worker struct {
	stream  stream.Stream
	at      stream.Place // topic and partition
	cl      *kgo.Client
	cfg     Config
	log     *slog.Logger
	metrics *metrics
	store   *stream.Store
	buffer  *buffer
	turns   chan *turn
	filler  *filler
	halt    func(why error) // makes the partition stand still
	logbook *logbook.Book

	block      *block    // that is being stored
	next       int64     // every offset below is stored
	epoch      int32     // of the leader that wrote the last record below next, or noEpoch
	doubt      int64     // up to here an earlier assignment may have stored rows
	dirty      bool      // next is not committed yet
	commits    time.Time // when it was committed last
	deadCount  int       // dead letters since the last line about them in the log
	deadLogged time.Time // when that was

	ahead *stream.Offsets // of the offsets up to doubt, what a look found stored

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

// run is the worker's life, from the position on.
func (w *worker) run(ctx context.Context, p position) {
	defer close(w.done)
	defer w.store.Close()
	defer w.drop()
	if !w.recover(ctx, p) {
		return
	}
	free, full := make(chan *block, blocksOfOne), make(chan *block)
	for range blocksOfOne {
		free <- &block{tables: w.stream.Tables}
	}
	filling, stopFilling := context.WithCancel(ctx)
	var filler sync.WaitGroup
	filler.Go(func() { w.filler.run(filling, w.stopping, free, full) })
	ok := w.storeAll(ctx, full, free)
	stopFilling()
	filler.Wait()
	if ok && w.dirty && ctx.Err() == nil {
		w.commit(ctx, w.next, stream.NoIntent)
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
			began := b.began // others read it, also when the block is used again
			w.since.Store(&began)
			if !w.finish(ctx) {
				return false
			}
			w.block = nil
			w.since.Store(nil)
			b.release(w.buffer, w.turns)
			free <- b
		case <-idle.C:
			if w.dirty && w.filler.since.Load() == nil && !w.commit(ctx, w.next, stream.NoIntent) {
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
	w.next, w.epoch, w.dirty = b.last+1, b.epoch, true
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
		return w.commit(ctx, w.next, stream.NoIntent) // as announcing the block would have done
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
		var fromSpool, expired []stream.Record
		for _, s := range b.spooled {
			if s.expired {
				expired = append(expired, s.Record)
			} else {
				fromSpool = append(fromSpool, s.Record)
			}
		}
		found, err := w.store.StoredBefore(limited, fromSpool, b.first, stream.RepeatWithin)
		if err != nil {
			return err
		}
		// A partition whose window expired is a quiet one, so these are few, and may be looked for at any time.
		old, err := w.store.StoredBefore(limited, expired, b.first, stream.AnyTime)
		if err != nil {
			return err
		}
		maps.Copy(found, old)
		if len(found) == 0 {
			return nil
		}
		repeats := map[int64]struct{}{}
		for _, s := range b.spooled {
			if _, stored := found[s.Identity]; stored {
				repeats[s.offset] = struct{}{}
			}
		}
		b.drop(repeats)
		return nil
	})
}

// deadLogEvery is the time between two lines of the log about dead letters of a partition: whoever writes to the topic would
// else fill the log as well.
const deadLogEvery = time.Minute

// warnDead logs the first of the block's dead letters, with the number of them since the last line.
func (w *worker) warnDead() {
	w.deadCount += len(w.block.dead)
	if time.Since(w.deadLogged) < deadLogEvery {
		return
	}
	first := w.block.dead[0]
	w.log.Warn("records cannot become rows: see `lodestone dead-letters list`", "records", w.deadCount,
		"offset", first.record.Offset, "reason", first.reason, "error", first.err)
	w.deadCount, w.deadLogged = 0, time.Now()
}

// bury writes the block's dead letters. They come before the insert: once the block is stored,
// nobody looks at its records again.
func (w *worker) bury(ctx context.Context) bool {
	w.warnDead()
	return w.retry(ctx, "write dead letters", func() error {
		return produceDeadLetters(ctx, w.cl, w.block.dead, w.at)
	})
}
