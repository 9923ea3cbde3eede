package consumer

import (
	"os"
	"runtime/debug"
	"sync/atomic"

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

// leastShare is what a partition may have in any case: a block smaller than that is not worth an insert.
const leastShare = 1 << 20

// costOf returns roughly what a record takes: itself, the client's structure around it, its columns.
func costOf(r *kgo.Record) int64 {
	const around = 500
	return int64(len(r.Value)) + around
}

func (b *buffer) add(n int64) {
	if b != nil {
		b.used.Add(n)
	}
}

// tight reports whether more than half is used: blocks end early.
func (b *buffer) tight() bool { return b != nil && b.used.Load() > b.most/2 }

// full reports whether no more should be fetched.
func (b *buffer) full() bool { return b != nil && b.used.Load() > b.most*3/4 }

// eagerCollection is the garbage that a process which only consumes may have, in percent of what it uses.
const eagerCollection = 50

// CollectEagerly lets the garbage collector run sooner than it does by default, unless GOGC says otherwise: a
// consumer holds its windows of repeats and its buffer all the time, and the default would double them. There
// are no pointers in the windows, so that looking through them costs little. It is for a process that does
// nothing else.
func CollectEagerly() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(eagerCollection)
	}
}
