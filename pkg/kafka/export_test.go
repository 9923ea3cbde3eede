package kafka

import "time"

// Patient lets a test's machine be slow.
func (g *Guard) Patient() { g.grace = time.Minute }

// Often makes the guard check all the time.
func (g *Guard) Often() { g.again = 10 * time.Millisecond }
