package kafka

import "time"

// Patient lets a test's machine be slow.
func (g *Guard) Patient() { g.grace = time.Minute }
