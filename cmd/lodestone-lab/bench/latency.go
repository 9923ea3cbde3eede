package bench

import (
	"math/bits"
	"time"
)

// Latencies counts durations with a relative error of at most one per cent, in constant memory. It is
// not safe for concurrent use; give each goroutine its own and Merge them.
type Latencies struct {
	counts [64 * subBuckets]uint32
	total  uint64
}

const (
	subBits    = 6
	subBuckets = 1 << subBits
)

func bucketOf(d time.Duration) int {
	v := uint64(max(d, 0))
	if v < subBuckets {
		return int(v)
	}
	shift := bits.Len64(v) - subBits - 1
	return (shift+1)<<subBits + int(v>>shift) - subBuckets
}

// valueOf returns the middle of a bucket.
func valueOf(bucket int) time.Duration {
	if bucket < subBuckets {
		return time.Duration(bucket)
	}
	shift := bucket>>subBits - 1
	low := uint64(subBuckets+bucket&(subBuckets-1)) << shift
	return time.Duration(low + uint64(1)<<shift/2)
}

// Add counts one duration.
func (l *Latencies) Add(d time.Duration) {
	l.counts[bucketOf(d)]++
	l.total++
}

// Merge adds what another counted.
func (l *Latencies) Merge(other *Latencies) {
	for i, n := range other.counts {
		l.counts[i] += n
	}
	l.total += other.total
}

// Count is how many durations were counted.
func (l *Latencies) Count() uint64 { return l.total }

// Quantile returns the duration that the share q (0 to 1) of all does not exceed; 0 if there are none.
func (l *Latencies) Quantile(q float64) time.Duration {
	if l.total == 0 {
		return 0
	}
	rank := uint64(q * float64(l.total))
	rank = min(rank, l.total-1)
	var seen uint64
	for i, n := range l.counts {
		if seen += uint64(n); seen > rank {
			return valueOf(i)
		}
	}
	return 0
}
