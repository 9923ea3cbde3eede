package consumer

import (
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// assumedInsertTime is how long an insert of a few rows takes without its merges, until one is
// measured: docs/decisions/012-inserts-of-one-partition.md.
const assumedInsertTime = 20 * time.Millisecond

const (
	// maxInsertTime limits what one insert counts. One that waited for more than its turn would make
	// blocks old long after that.
	maxInsertTime = 100 * time.Millisecond
	// smallInsert is up to how many rows the time of an insert hardly depends on them.
	smallInsert = 5000
	// insertWeight is the part that a new insert has in the mean.
	insertWeight = 1. / 16
	// insertsAtATime is how many inserts of a consumer of many partitions run on average.
	insertsAtATime = 2
	// maxSharedAge is how long readers can wait.
	maxSharedAge = 8 * time.Second
	// ageSpread is how much the ages of blocks differ. Partitions begin their blocks together, at the
	// start and after an outage, and would insert together from then on, each time in a queue of
	// hundreds.
	ageSpread = 0.25
)

// pace is what the age of blocks depends on. Every block is an insert, and an insert takes
// ClickHouse long whatever its size. So blocks get as old as the inserts of all partitions that
// have records take, two at a time: a fast server stores events sooner, and a busy one gets fewer
// and larger inserts. Its methods are safe for concurrent use.
type pace struct {
	busy   atomic.Int32 // partitions with a block that is being filled
	insert atomic.Int64 // the mean of what inserts of a few rows took, in nanoseconds; 0: none ended yet
}

// inserted notes what an insert took.
func (p *pace) inserted(rows int, took time.Duration) {
	if rows > smallInsert {
		return
	}
	mean := p.mean()
	p.insert.Store(int64(mean + time.Duration(insertWeight*float64(min(took, maxInsertTime)-mean)))) // of two at once, one may be left out
}

func (p *pace) mean() time.Duration {
	if mean := p.insert.Load(); mean > 0 {
		return time.Duration(mean)
	}
	return assumedInsertTime
}

// ageOf returns the age of blocks of a consumer of which so many partitions have records, when an
// insert of a few rows takes so long. Blocks differ from it by a quarter.
func (c Config) ageOf(partitions int, insert time.Duration) time.Duration {
	return max(c.BlockAge, min(time.Duration(partitions)*insert/insertsAtATime, maxSharedAge))
}

// blockAge is how old the block may get that is not full. Its end may depend on time, since it is
// announced, so its age may change at any moment.
func (f *blockBuilder) blockAge() time.Duration {
	return max(f.cfg.BlockAge, time.Duration(f.spread*float64(f.cfg.ageOf(int(f.pace.busy.Load()), f.pace.mean()))))
}

// begun notes that the block has its first record.
func (f *blockBuilder) begun(at time.Time) {
	f.spread = 1 + ageSpread*(2*rand.Float64()-1)
	if f.since.Swap(&at) == nil {
		f.pace.busy.Add(1)
	}
}

// ended notes that the block is handed over, or dropped.
func (f *blockBuilder) ended() {
	if f.since.Swap(nil) != nil {
		f.pace.busy.Add(-1)
	}
}
