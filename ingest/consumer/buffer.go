package consumer

import (
	"log/slog"
	"os"
	"runtime/debug"
	"sync/atomic"

	"lodestone/ingest/stream"

	"github.com/ClickHouse/ch-go"
	"github.com/twmb/franz-go/pkg/kgo"
)

// buffer counts the memory of the records that are read and not stored yet, over all partitions. When
// it gets scarce, fetching pauses and blocks end early, so that a consumer whose ClickHouse is away
// stays as small as one whose ClickHouse is there. It is a target: each partition may always have a
// little. A nil buffer is never scarce.
type buffer struct {
	most int64
	used atomic.Int64
}

// leastShare is what a block may have in any case. To grow larger it needs a turn.
const leastShare = 1 << 20

// largeBlocks is how many blocks may be larger than leastShare at a time, over all partitions. If all
// partitions that are behind filled theirs evenly, none would ever get large within the buffer, and
// ClickHouse would take many times as long over small inserts. Three keep it busy, and a disk too.
const largeBlocks = 3

// largeCompressed is largeBlocks where connections compress: what is sent is encoded and compressed as a whole then, each into
// memory as large as the block, and a third such connection took the consumer from 214 to 270 MiB.
const largeCompressed = 2

// turn allows a block to grow large, until it is stored. With it goes a connection, so that there are no more
// buffers for large inserts than turns.
type turn struct{ stream.Connection }

// newTurns returns all turns there are.
func newTurns(options ch.Options, log *slog.Logger, a *stream.Health) chan *turn {
	n := largeBlocks
	if options.Compression != ch.CompressionDisabled {
		n = largeCompressed
	}
	turns := make(chan *turn, n)
	for range n {
		turns <- &turn{stream.Connection{Options: options, Log: log, Health: a}}
	}
	return turns
}

// queuedCost returns roughly what a record takes that waits for a block: itself, and the client's structure.
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
func (b *buffer) tight() bool { return b != nil && b.used.Load() > b.most/2 }

// full reports whether no more should be fetched, and no block should grow.
func (b *buffer) full() bool { return b != nil && b.used.Load() > b.most*3/4 }

// eagerCollection is the garbage that a process which only consumes may have, in percent of what it uses.
const eagerCollection = 25

// besideBuffer is what such a process takes besides the buffer, where twelve partitions are behind: their windows, what
// was fetched, and the garbage that may be left.
const besideBuffer = 112 << 20

// CollectEagerly lets the garbage collector run sooner than it does by default, unless GOGC and GOMEMLIMIT say
// otherwise: a consumer holds its windows of repeats and its buffer all the time, and the default would double
// them. There are no pointers in the windows, so that looking through them costs little. It is for a process
// that does nothing else.
func CollectEagerly(c Config) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(eagerCollection)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(c.BufferBytes) + besideBuffer)
	}
}
