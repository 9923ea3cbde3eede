package kafka

import "time"

// WithLongTimeouts lets a test's machine be slow.
func (g *Guard) WithLongTimeouts() { g.grace = time.Minute }

// Often makes the guard check all the time.
func (g *Guard) Often() { g.again = 10 * time.Millisecond }
