package consumer

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/stream"
	"lodestone/pkg/tracing"
)

// idleCommit is how long the end of a stored batch waits for the next batch, whose announcement
// says the same, before it is committed alone.
const idleCommit = 200 * time.Millisecond

// batcher stores the partitions of one topic that are on one shard: one batch after the other. It
// is two goroutines. One fills the next batch while the other stores the one before.
type batcher struct {
	retrier
	cfg     Config
	key     batcherKey
	stream  stream.Stream
	metrics *metrics
	buffer  *buffer
	trace   *tracing.Tracer
	client  *kgo.Client
	group   group
	table   table

	ready    chan struct{}     // has one element after records arrived, or partitions changed
	filled   chan *batch       // hands batches over
	settling chan []*partition // to be given back in order
	ended    chan struct{}     // closed when nothing is stored any more
	// When the first record was read of the batch that is being filled, and of the one that is being
	// stored; nil: none.
	filling, oldest atomic.Pointer[time.Time]

	mu         sync.Mutex
	partitions []*partition // that are read; replaced when it changes
	left       []*partition // that were read, and have something waiting

	dirty     map[*partition]struct{} // whose next is not committed yet
	committed time.Time               // when something was committed last
	aside     map[*partition]struct{} // whose rows ClickHouse refuses
	looked    time.Duration           // how long a look into what is long past takes at present
}

func newBatcher(c *Consumer, cl *kgo.Client, s stream.Stream, key batcherKey, t table) *batcher {
	return &batcher{
		retrier: retrier{c.log.With("topic", s.Topic), c.shards.Size() > 1},
		cfg:     c.cfg, key: key, stream: s, metrics: c.metrics, buffer: c.buffer, trace: c.trace,
		client: cl, group: consumerGroup{cl}, table: t,
		ready: make(chan struct{}, 1), filled: make(chan *batch),
		settling: make(chan []*partition), ended: make(chan struct{}),
		dirty: map[*partition]struct{}{}, aside: map[*partition]struct{}{},
	}
}

// run fills and stores batches until ctx ends.
func (b *batcher) run(ctx context.Context) {
	var both sync.WaitGroup
	both.Go(func() { b.fill(ctx) })
	b.storeAll(ctx)
	close(b.ended)
	both.Wait()
	b.dropLeft()
	for _, p := range b.owned() {
		p.drop()
	}
	for p := range b.aside {
		b.forget(p)
	}
	b.table.Close()
}

// join lets a partition be read, unless it is to be given back already.
func (b *batcher) join(p *partition) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !p.stopping.Load() {
		b.partitions = append(slices.Clone(b.partitions), p)
		p.queue.attach(b.ready)
	}
}

// leave ends the reading of a partition, which is stopping.
func (b *batcher) leave(p *partition) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.partitions = slices.DeleteFunc(slices.Clone(b.partitions), func(other *partition) bool { return other == p })
	b.left = append(b.left, p)
	signal(b.ready)
}

// dropLeft drops what waits of partitions that are not read any more. It is called by whoever fills
// batches.
func (b *batcher) dropLeft() {
	b.mu.Lock()
	left := b.left
	b.left = nil
	b.mu.Unlock()
	for _, p := range left {
		p.drop()
	}
}

func (b *batcher) owned() []*partition {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.partitions
}

// fill fills one batch after the other. A batch is handed over when it is full or, once it is of
// age, as soon as the one before is stored: so batches are small and soon stored when there is
// little to do, and grow when there is much.
func (b *batcher) fill(ctx context.Context) {
	age := time.NewTimer(b.cfg.BatchAge)
	defer age.Stop()
	for next := newBatch(b.stream.Tables); ; {
		var offer chan<- *batch
		was := next.empty()
		full := b.take(next)
		if was && !next.empty() {
			began := next.began
			b.filling.Store(&began)
			age.Reset(b.cfg.BatchAge - time.Since(began)) // the age is that of the batch's first record
		}
		if full || !next.empty() && b.remaining(next) <= 0 {
			offer = b.filled
		}
		arrived := b.ready
		if full {
			arrived = nil
		}
		select {
		case offer <- next: // not to be touched from here on
			next = newBatch(b.stream.Tables)
			b.filling.Store(nil)
		case <-arrived:
		case <-age.C:
			age.Reset(b.cfg.BatchAge) // it may have caught up by then
		case <-ctx.Done():
			next.release(b.buffer)
			return
		}
	}
}

// behindAge takes the place of the age of batches while more than a batch waits in the log: until
// then a batch waits for its records. Large inserts cost ClickHouse less.
const behindAge = 5 * time.Second

// remaining returns how long the batch that is being filled may still wait.
func (b *batcher) remaining(next *batch) time.Duration {
	waiting, limit := int64(0), b.cfg.BatchAge
	for _, p := range b.owned() {
		waiting += max(0, p.end.Load()-p.read)
	}
	if waiting > int64(b.cfg.BatchRows) {
		limit = max(limit, behindAge)
	}
	return limit - time.Since(next.began)
}

// take moves what waits into the batch, and reports whether the batch is full.
func (b *batcher) take(into *batch) (full bool) {
	isFull := func() bool {
		return into.rows() >= b.cfg.BatchRows || into.bytes >= b.cfg.BatchBytes || into.cost >= minShare && b.buffer.full()
	}
	b.dropLeft()
	for _, p := range b.owned() {
		if p.stopping.Load() || p.refused.Load() != nil {
			continue
		}
		full = p.take(into, isFull) || full
	}
	return full
}

// storeAll stores the batches that come, until ctx ends.
func (b *batcher) storeAll(ctx context.Context) {
	idle := time.NewTimer(idleCommit)
	defer idle.Stop()
	again := time.NewTicker(refusedRetry)
	defer again.Stop()
	for {
		select {
		case batch := <-b.filled:
			began := batch.began
			b.oldest.Store(&began)
			b.store(ctx, batch)
			b.oldest.Store(nil)
			idle.Reset(idleCommit)
		case partitions := <-b.settling:
			b.settle(ctx, partitions)
		case <-again.C:
			b.retryAside(ctx)
		case <-idle.C:
			idle.Reset(idleCommit)
			if len(b.dirty) > 0 && b.filling.Load() == nil {
				b.commitDone(ctx)
			}
		case <-ctx.Done():
			return
		}
	}
}

// commitDone commits what is stored. If that fails, it tries again later.
func (b *batcher) commitDone(ctx context.Context) {
	if err := b.commit(ctx, nil, time.Time{}); err != nil && ctx.Err() == nil {
		b.log.Warn("cannot commit, will try again", "error", err)
	}
}

// settle gives back partitions that have nothing under way any more.
func (b *batcher) settle(ctx context.Context, partitions []*partition) {
	b.commitDone(ctx)
	for _, p := range partitions {
		p.givenBack.Store(true)
		b.forget(p)
		close(p.settled)
	}
}

// settleWithin returns when the partitions are given back in order, or at the limit.
func (b *batcher) settleWithin(limit <-chan time.Time, partitions []*partition) {
	select {
	case b.settling <- partitions:
	case <-limit:
		return
	case <-b.ended:
		return
	}
	for _, p := range partitions {
		select {
		case <-p.settled:
		case <-limit:
			return
		}
	}
}

// forget drops what is kept of a partition that was given back.
func (b *batcher) forget(p *partition) {
	delete(b.dirty, p)
	delete(b.aside, p)
	for _, refused := range p.aside {
		refused.release(b.buffer)
	}
	p.aside = nil
}

// store stores a batch, but for what becomes of partitions that are given back meanwhile, that
// stand still, or whose rows ClickHouse refuses.
func (b *batcher) store(ctx context.Context, batch *batch) {
	defer batch.release(b.buffer)
	for p := range b.aside {
		if p.givenBack.Load() {
			b.forget(p)
		}
	}
	batch.remove(func(s *span) bool { return s.of.stopping.Load() || s.of.givenBack.Load() })
	for _, s := range slices.Clone(batch.spans) {
		if _, behind := b.aside[s.of]; behind {
			s.of.aside = append(s.of.aside, batch.split(s))
		}
	}
	if !b.prepare(ctx, batch) {
		return
	}
	within, end := batch.trace(ctx, b.trace)
	defer end()
	b.insert(within, batch, doubt{})
	if len(b.dirty) > 0 && time.Since(b.committed) > idleCommit && batch.rows() == 0 {
		b.commitDone(ctx) // as announcing the batch would have done
	}
}

// retryAside tries again what ClickHouse refused.
func (b *batcher) retryAside(ctx context.Context) {
	for p := range b.aside {
		for len(p.aside) > 0 && !p.givenBack.Load() {
			first := p.aside[0]
			if !b.tryAside(ctx, first) {
				break
			}
			first.release(b.buffer)
			p.aside = p.aside[1:]
		}
		if len(p.aside) == 0 || p.givenBack.Load() {
			b.forget(p)
			p.blocked.Store(false)
			p.refused.Store(nil)
			signal(b.ready)
		}
	}
}

// waiting returns how long the oldest record that was read has been waiting to be stored.
func (b *batcher) waiting() (longest time.Duration) {
	waits := []*time.Time{b.oldest.Load(), b.filling.Load()}
	for _, p := range b.owned() {
		waits = append(waits, p.refused.Load())
	}
	for _, since := range waits {
		if since != nil {
			longest = max(longest, time.Since(*since))
		}
	}
	return longest
}
