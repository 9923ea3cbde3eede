package consumer

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"lodestone/ingest/stream"

	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/postgres"
	"lodestone/pkg/tracing"
)

// idleCommit is how long a finished block's end waits for the next block, whose commit would say
// the same, before it is committed alone.
const idleCommit = 200 * time.Millisecond

// worker stores one partition for as long as this consumer owns it: one assignment, one worker. It
// is stopped and waited for before the partition is given up, so that nothing of an old assignment
// can happen in a new one. It is two goroutines: the builder's, and one that stores the blocks it
// builds, one after the other.
type worker struct {
	stream  stream.Stream
	at      stream.Place // topic and partition
	cl      *kgo.Client
	commits *committer
	cfg     Config
	log     *slog.Logger
	metrics *metrics
	store   *stream.Store
	buffer  *buffer
	slots   chan *slot
	find    func(ctx context.Context, of stream.Stream, at stream.Place, partitions int) (route, error)
	route   route         // to the shard of the partition
	several bool          // other partitions are on other shards
	looks   chan struct{} // has an element for each look for spooled events that runs, of all partitions
	builder *blockBuilder
	halt    func(why error) // makes the partition stand still
	pool    *postgres.Pool  // has on record what is lost

	block       *block // that is being stored
	next        int64  // every offset below is stored
	trace       *tracing.Tracer
	epoch       int32     // of the leader that wrote the last record below next, or noEpoch
	maybeStored int64     // up to here an earlier assignment may have stored rows
	lastStored  int64     // the last row that earlier assignments stored
	dirty       bool      // next is not committed yet
	committed   time.Time // when it was committed last
	deadCount   int       // dead letters since the last line about them in the log
	deadLogged  time.Time // when that was

	ahead *stream.Offsets // what a look found stored of the offsets up to maybeStored

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

// run stores the partition from the position on, until ctx ends, the worker is stopped, or it
// halts.
func (w *worker) run(ctx context.Context, p position) {
	defer close(w.done)
	defer w.store.Close()
	defer w.drop()
	if !w.findShard(ctx, p.partitions) || p.expired != nil && !w.recordExpired(ctx, p.expired) || !w.recover(ctx, p) {
		return
	}
	free, built := make(chan *block, blocksOfOne), make(chan *block)
	for range blocksOfOne {
		free <- &block{tables: w.stream.Tables}
	}
	fillCtx, stopFilling := context.WithCancel(ctx)
	var building sync.WaitGroup
	building.Go(func() { w.builder.run(fillCtx, w.stopping, free, built) })
	ok := w.storeAll(ctx, built, free)
	stopFilling()
	building.Wait()
	if ok && w.dirty && ctx.Err() == nil {
		w.commit(ctx, w.next, stream.NoIntent)
	}
}

// findShard finds the route of the partition, and reports whether the worker may go on.
func (w *worker) findShard(ctx context.Context, partitions int) bool {
	return w.retry(ctx, "find the shard of the partition", func() (err error) {
		w.route, err = w.find(ctx, w.stream, w.at, partitions)
		if err != nil {
			return err
		}
		w.store.Shared, w.store.Before = w.route.shared, w.route.before
		return nil
	})
}

// drop gives up what the worker has read and not stored.
func (w *worker) drop() {
	w.builder.drop()
	if w.block != nil {
		w.block.release(w.buffer, w.slots)
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
		since = w.builder.since.Load()
	}
	if since == nil {
		return 0
	}
	return time.Since(*since)
}

// storeAll stores the blocks that come, and gives them back. It reports whether that ended in
// order.
func (w *worker) storeAll(ctx context.Context, built <-chan *block, free chan<- *block) bool {
	idle := time.NewTimer(idleCommit)
	defer idle.Stop()
	for {
		idle.Reset(idleCommit)
		select {
		case b, more := <-built:
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
			b.release(w.buffer, w.slots)
			free <- b
		case <-idle.C:
			if w.dirty && w.builder.since.Load() == nil && !w.commit(ctx, w.next, stream.NoIntent) {
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
	if len(b.dead) > 0 && !w.writeDeadLetters(ctx) {
		return false
	}
	if len(b.strays) > 0 && !w.sendStrays(ctx) {
		return false
	}
	stored, ok := w.isStored(ctx)
	if !ok {
		return false
	}
	if len(b.spooled) > 0 && !w.dropStoredRepeats(ctx) {
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
	if stored && time.Since(w.committed) > idleCommit {
		return w.commit(ctx, w.next, stream.NoIntent) // as announcing the block would have done
	}
	return true
}
