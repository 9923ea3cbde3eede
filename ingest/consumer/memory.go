package consumer

import (
	"log/slog"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/stream"
)

// buffer counts the memory of the records that are read and not stored yet, over all partitions.
// When it gets scarce, fetching pauses and blocks end early, so that a consumer whose ClickHouse is
// away stays as small as one whose ClickHouse is there. It is a target: each partition may always
// have a little. A nil buffer is never scarce.
type buffer struct {
	max  int64
	used atomic.Int64
}

// minShare is what a block may have in any case. To grow larger it needs a slot.
const minShare = 1 << 20

// largeBlocks is how many blocks may be larger than minShare at a time, over all partitions. If all
// partitions that are behind filled theirs evenly, none would ever get large within the buffer, and
// ClickHouse would take many times as long over small inserts. Three keep it busy, and a disk too.
const largeBlocks = 3

// largeCompressed is largeBlocks where connections compress: what is sent is encoded and compressed
// as one piece then, each into memory as large as the block, and a third such connection took the
// consumer from 214 to 270 MiB.
const largeCompressed = 2

// slot allows a block to grow large, until it is stored. It owns a connection, so that there are no
// more buffers for large inserts than slots: one that goes on to a block of another shard connects
// again.
type slot struct {
	stream.Connection
	shard uint16 // that the connection leads to
}

// to returns the slot's connection to the shard of a block.
func (s *slot) to(r route) *stream.Connection {
	if s.shard != r.shard {
		s.Close()
		s.shard, s.Dial = r.shard, r.dial
	}
	return &s.Connection
}

// newSlots returns all slots.
func newSlots(compressed bool, log *slog.Logger, health *stream.Health) chan *slot {
	n := largeBlocks
	if compressed {
		n = largeCompressed
	}
	slots := make(chan *slot, n)
	for range n {
		slots <- &slot{Connection: stream.Connection{Log: log, Health: health}}
	}
	return slots
}

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

// tight reports whether more than half is used: partitions keep little waiting.
func (b *buffer) tight() bool { return b != nil && b.used.Load() > b.max/2 }

// full reports whether no more should be fetched, and no block should grow.
func (b *buffer) full() bool { return b != nil && b.used.Load() > b.max*3/4 }

// eagerCollection is the garbage that a process which only consumes may have, in percent of what it
// uses.
const eagerCollection = 25

// besideBuffer is what such a process takes besides the buffer, where twelve partitions are behind:
// their windows, what was fetched, and the garbage that may be left. Two topics have that many
// each, of which that of link views is a quiet one. Each partition beyond has a window of repeats,
// which takes windowBytes once it is full, and the garbage that it leaves while it grows.
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

// queue hands the records of one partition from the poll loop to the partition's worker. The poll
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
	opened  bool // something was taken
	closed  bool

	ready chan struct{} // has one element after a push
}

// tightQueue is by how much less may wait when the buffer gets scarce, or nothing was taken yet.
const tightQueue = 4

// newQueue returns an empty queue. It calls pause and resume in turns, under its lock: otherwise a
// worker that empties the queue at once could resume the fetching before it is paused, and nothing
// would resume it again.
func newQueue(limit int, b *buffer, pause, resume func()) *queue {
	return &queue{limit: limit, buffer: b, pause: pause, resume: resume, ready: make(chan struct{}, 1)}
}

// push appends records, and pauses the fetching if too much waits.
func (q *queue) push(records []*kgo.Record) {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return
	}
	q.records = append(q.records, records...)
	cost := int64(0)
	for _, r := range records {
		q.bytes += len(r.Value)
		cost += queuedCost(r)
	}
	q.cost += cost
	q.buffer.add(cost)
	limit := q.limit
	if !q.opened || q.buffer.tight() {
		limit /= tightQueue // a block that has a slot could use what waits here
	}
	if (q.bytes > limit || q.buffer.full()) && !q.paused {
		q.paused = true
		q.pause()
	}
	q.mu.Unlock()
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// take returns everything that waits. The fetching goes on if more is wanted, else it pauses.
func (q *queue) take(more bool) (records []*kgo.Record) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.opened = true
	records = q.records
	q.records, q.bytes, q.cost = nil, 0, 0 // the cost is the worker's now
	switch {
	case more && q.paused:
		q.paused = false
		q.resume()
	case !more && !q.paused && !q.closed:
		q.paused = true
		q.pause()
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
	q.buffer.add(-q.cost)
	q.records, q.bytes, q.cost, q.closed = nil, 0, 0, true
}

// recordPool has the memory of batches used again: their records, and what they were decompressed
// to. It is given back with the last record of a batch that is recycled; a batch of which a record
// is held, or dropped, is left to the collector of garbage.
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

// returnSlot makes the builder return the slot of its block, which has to wait for the one before.
func (f *blockBuilder) returnSlot() {
	select {
	case f.slotWanted <- struct{}{}:
	default:
	}
}
