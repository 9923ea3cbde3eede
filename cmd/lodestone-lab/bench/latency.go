package bench

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Latencies counts durations up to an hour, with a relative error of one per cent. It is not safe for concurrent use: each goroutine has its
// own, and they are merged.
type Latencies struct{ *hdrhistogram.Histogram }

// NewLatencies returns an empty one.
func NewLatencies() Latencies {
	const digits = 2
	return Latencies{hdrhistogram.New(1, int64(time.Hour), digits)}
}

// Add counts one duration.
func (l Latencies) Add(d time.Duration) {
	_ = l.RecordValue(int64(min(max(d, 0), time.Hour))) // within the bounds, so it cannot fail
}

// AddLatencies adds the percentiles.
func (s Sample) AddLatencies(l Latencies) {
	for _, q := range []float64{0.5, 0.9, 0.99, 0.999} {
		s[Latency(q)] = float64(l.ValueAtPercentile(100*q)) / float64(time.Millisecond)
	}
}
