package consumer

import (
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kgo"
)

// buffer counts the memory of the records that are read and not stored yet, over all partitions.
// When it gets scarce, fetching pauses and batches end early, so that a consumer whose ClickHouse
// is away stays as small as one whose ClickHouse is there. It is a target: each partition may
// always have a little. A nil buffer is never scarce.
type buffer struct {
	max    int64
	used   atomic.Int64
	queued atomic.Int64 // of that, by what no batch has taken yet
}

// minShare is the memory that a batch may always have.
const minShare = 1 << 20

// queuedCost returns roughly what a record takes that waits for a block: itself, and the client's
// structure.
func queuedCost(r *kgo.Record) int64 {
	const around = 300
	return int64(len(r.Value)) + around
}

func (b *buffer) add(n int64) {
	if b != nil {
		b.used.Add(n)
	}
}

// queue counts what waits in the queues.
func (b *buffer) queue(n int64) {
	if b != nil {
		b.used.Add(n)
		b.queued.Add(n)
	}
}

// take counts what was taken from a queue.
func (b *buffer) take(n int64) {
	if b != nil {
		b.queued.Add(-n)
	}
}

// queuesFull reports whether enough waits in all queues together: batches are to have the rest.
func (b *buffer) queuesFull() bool { return b != nil && b.queued.Load() > b.max/4 }

// full reports whether no more should be fetched, and no batch should grow.
func (b *buffer) full() bool { return b != nil && b.used.Load() > b.max*3/4 }

// eagerCollection is the garbage that a process which only consumes may have, in percent of what it
// uses.
const eagerCollection = 25

// besideBuffer is the memory of such a process besides the buffer, when twelve partitions are
// behind: their windows, fetched records, and the garbage that may be left. Two topics have that
// many each; that of link views is quiet. Each partition beyond has a window of repeats, which
// takes windowBytes once it is full, and the garbage that it leaves while it grows.
const (
	besideBuffer     = 112 << 20
	countedBeside    = 24
	windowBytes      = 2 << 20
	perPartitionMore = windowBytes * (100 + eagerCollection) / 100
)

// memoryLimit returns how much memory a process that only consumes may use before its garbage is
// collected all the time.
func memoryLimit(c Config, partitions int) int64 {
	return int64(c.BufferBytes) + besideBuffer + int64(max(0, partitions-countedBeside))*perPartitionMore
}

// followMemory makes the limit of the process follow the partitions that its consumer owns. It
// leaves a limit alone that CollectEagerly did not set: that of GOMEMLIMIT, or none.
func followMemory(c Config, before, now int) {
	if debug.SetMemoryLimit(-1) == memoryLimit(c, before) {
		debug.SetMemoryLimit(memoryLimit(c, now))
	}
}

// CollectEagerly lets the garbage collector run sooner than it does by default, unless GOGC and
// GOMEMLIMIT say otherwise: a consumer holds its windows of repeats and its buffer all the time,
// and the default would double them. There are no pointers in the windows, so that looking through
// them costs little. It is for a process that does nothing else.
func CollectEagerly(c Config) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(eagerCollection)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit(c, 0))
	}
}

// queue hands the records of one partition from the poll loop to whoever fills batches. The poll
// loop never waits: above the limit it pauses the partition instead.
type queue struct {
	limit         int     // bytes
	buffer        *buffer // of all partitions
	pause, resume func()

	mu      sync.Mutex
	records []*kgo.Record
	bytes   int
	cost    int64 // of the records, in the buffer
	paused  bool
	closed  bool

	ready chan<- struct{} // gets an element after a push; nil: no one takes anything yet
}

// earlyQueue is by how much less may wait while no one takes anything yet.
const earlyQueue = 4

// newQueue returns an empty queue. It calls pause and resume in turns, under its lock: otherwise
// whoever empties the queue at once could resume the fetching before it is paused, and nothing
// would resume it again.
func newQueue(limit int, b *buffer, pause, resume func()) *queue {
	return &queue{limit: limit, buffer: b, pause: pause, resume: resume}
}

// attach sets the channel that the queue wakes.
func (q *queue) attach(ready chan<- struct{}) {
	q.mu.Lock()
	q.ready = ready
	q.mu.Unlock()
	signal(ready)
}

// signal wakes whoever waits for the channel, which has room for one element.
func signal(ready chan<- struct{}) {
	select {
	case ready <- struct{}{}:
	default:
	}
}

// push appends records, and pauses the fetching if too much waits.
func (q *queue) push(records []*kgo.Record) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	q.records = append(q.records, records...)
	cost := int64(0)
	for _, r := range records {
		q.bytes += len(r.Value)
		cost += queuedCost(r)
	}
	q.cost += cost
	q.buffer.queue(cost)
	limit := q.limit
	if q.ready == nil {
		limit /= earlyQueue
	}
	if (q.bytes > limit || q.buffer.queuesFull() || q.buffer.full()) && !q.paused {
		q.paused = true
		q.pause()
	}
	if q.ready != nil {
		signal(q.ready)
	}
}

// take returns everything that waits, and lets the fetching go on.
func (q *queue) take() (records []*kgo.Record) {
	q.mu.Lock()
	defer q.mu.Unlock()
	records = q.records
	q.buffer.take(q.cost)
	q.records, q.bytes, q.cost = nil, 0, 0 // the rest of the cost is the taker's now
	if q.paused && !q.closed {
		q.paused = false
		q.resume()
	}
	return records
}

// halt ends the fetching, and drops what waits and what comes.
func (q *queue) halt() {
	q.mu.Lock()
	if !q.paused && !q.closed {
		q.paused = true
		q.pause()
	}
	q.mu.Unlock()
	q.close()
}

// close drops what waits and what comes.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.buffer.queue(-q.cost)
	q.records, q.bytes, q.cost, q.closed = nil, 0, 0, true
}

// recordPool has the memory of batches used again: their records, and what they were decompressed
// to. It is given back with the last record of a batch that is recycled; a batch with a record that
// is held or dropped is left to the garbage collector.
type recordPool struct{ records, bytes sync.Pool }

// GetRecords implements kgo.PoolRecords.
func (p *recordPool) GetRecords(n int) []kgo.Record {
	if used, ok := p.records.Get().(*[]kgo.Record); ok && cap(*used) >= n {
		return (*used)[:n]
	}
	return make([]kgo.Record, n)
}

// PutRecords implements kgo.PoolRecords.
func (p *recordPool) PutRecords(used []kgo.Record) { p.records.Put(&used) }

// GetDecompressBytes implements kgo.PoolDecompressBytes.
func (p *recordPool) GetDecompressBytes([]byte, kgo.CompressionCodecType) []byte {
	if used, ok := p.bytes.Get().(*[]byte); ok {
		return *used
	}
	return nil
}

// PutDecompressBytes implements kgo.PoolDecompressBytes.
func (p *recordPool) PutDecompressBytes(used []byte) { p.bytes.Put(&used) }
