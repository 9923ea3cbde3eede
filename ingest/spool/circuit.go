package spool

import (
	"sync/atomic"
	"time"
)

// circuit decides whether a live request tries Kafka. It opens with the first failure and is closed
// by the drain, which tries all the time: so no request serves as the probe. It matters only while
// there are entries to drain, or shortly after a drain that was slow.
type circuit struct {
	open atomic.Bool
	slow atomic.Pointer[time.Time] // until when, by the monotonic clock, Kafka counts as slow; nil: it does not
}

// slows reports whether Kafka was slow recently.
func (c *circuit) slows() bool {
	till := c.slow.Load()
	return till != nil && time.Until(*till) > 0
}

func (c *circuit) slowFor(d time.Duration) {
	till := time.Now().Add(d)
	c.slow.Store(&till)
}
