package collector

import "time"

// DrainSlowly lets a test's machine be slow.
func (c *Collector) DrainSlowly() { c.drainTimeout = time.Minute }

// ConnectionsWithin tells how many connections a process accepts that may open so many files.
func ConnectionsWithin(c Config, files uint64) (int, error) { return c.connectionsWithin(files) }

// LoggedRefusals tells how many are logged of n refusals at each of the times.
func LoggedRefusals(n int, at ...time.Time) (logged int) {
	var b logBudget
	for _, t := range at {
		for range n {
			if b.allow(t) {
				logged++
			}
		}
	}
	return logged
}
