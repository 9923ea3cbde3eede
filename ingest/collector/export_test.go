package collector

import "time"

// Patient lets a test's machine be slow.
func (c *Collector) Patient() { c.farewell = time.Minute }
