package consumer

import (
	"context"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/stream"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
)

// takeover finds out how far earlier owners may have got with partitions of one topic that are on
// one shard, and then lets them be read. It is one goroutine.
type takeover struct {
	batcher    *batcher
	table      table
	pool       *postgres.Pool // has on record what is lost
	copy       int32          // of the events
	partitions map[*partition]position
	// ends returns what the log holds of each partition.
	ends func(context.Context) (map[int32]kafka.Range, error)
}

// takeOver takes over the partitions of a topic that were assigned together. It returns at once. In
// the background it starts the batchers that are missing (batcherOf), and a partition joins its
// batcher only once it is known how far earlier owners got.
func (c *Consumer) takeOver(ctx context.Context, cl *kgo.Client, taken map[*partition]position) {
	c.taking.Go(func() {
		byShard := map[*batcher]map[*partition]position{}
		for p, at := range taken {
			var b *batcher
			tries := retrier{p.log, c.shards.Size() > 1}
			if !tries.retry(ctx, []*partition{p}, "find the shard of the partition", func() (err error) {
				b, err = c.batcherOf(ctx, cl, p, at)
				return err
			}) {
				continue
			}
			if byShard[b] == nil {
				byShard[b] = map[*partition]position{}
			}
			byShard[b][p] = at
		}
		var shards sync.WaitGroup
		for b, of := range byShard {
			shards.Go(func() {
				t := takeover{batcher: b, table: c.tableOf(b.stream, b.key.topicID, b.key.shard), pool: c.postgres,
					copy: c.shards.Copy(), partitions: of}
				t.ends = func(ctx context.Context) (map[int32]kafka.Range, error) { return kafka.Ranges(ctx, cl, b.stream.Topic) }
				defer t.table.Close()
				t.run(ctx)
			})
		}
		shards.Wait()
	})
}

// run takes the partitions over, first those without a doubt. Those whose range is announced wait
// until no insert of it may begin any more.
func (t *takeover) run(ctx context.Context) {
	var settled, announced []*partition
	for p, at := range t.partitions {
		if at.insertsUntil.IsZero() {
			settled = append(settled, p)
		} else {
			announced = append(announced, p)
		}
	}
	for _, some := range [][]*partition{settled, announced} {
		if len(some) > 0 {
			t.some(ctx, some)
		}
	}
}

// some takes some of the partitions over.
func (t *takeover) some(ctx context.Context, some []*partition) {
	var numbers []int32
	var until time.Time
	for _, p := range some {
		numbers = append(numbers, p.partition)
		if u := t.partitions[p].insertsUntil; u.After(until) {
			until = u
		}
	}
	if !t.batcher.retry(ctx, some, "find out what is stored", func() error {
		return lastLook(ctx, t.table, numbers, until, t.batcher.cfg.RebalanceTimeout)
	}) {
		return
	}
	for _, p := range some {
		if at := t.partitions[p]; at.expired && !t.recordExpired(ctx, p, at.committed) {
			p.givenBack.Store(true)
		}
	}
	if !t.batcher.retry(ctx, some, "find out what is stored", func() error { return t.look(ctx, some) }) {
		return
	}
	for _, p := range some {
		if !p.givenBack.Load() {
			p.blocked.Store(false)
			t.batcher.join(p)
		}
	}
}

// look reads how far earlier owners got.
func (t *takeover) look(ctx context.Context, some []*partition) error {
	var from, newest []stream.Span
	for _, p := range some {
		at := t.partitions[p]
		from = append(from, stream.Span{Partition: p.partition, First: at.fetch, Last: 1<<63 - 1})
		if first := max(at.fetch, at.next-comparedOffsets); first < at.next {
			newest = append(newest, stream.Span{Partition: p.partition, First: first, Last: at.next - 1})
		}
	}
	last, err := t.table.Last(ctx, from)
	if err != nil {
		return err
	}
	// Only now: what is stored was in the log before.
	ranges, err := t.ends(ctx)
	if err != nil {
		return err
	}
	done, err := t.table.Newest(ctx, newest)
	if err != nil {
		return err
	}
	for _, p := range some {
		p.lastStored, p.done = -1, map[int64]stream.Identity{}
		if stored, known := last[p.partition]; known {
			p.lastStored = stored
			if end := ranges[p.partition].To; stored >= end {
				p.halt(&differsError{stored, end})
				p.givenBack.Store(true)
			}
		}
	}
	for at, row := range done {
		for _, p := range some {
			if p.partition == at.Partition {
				p.done[at.Offset] = row
			}
		}
	}
	return nil
}
