package kafka

import (
	"time"

	"github.com/twmb/franz-go/pkg/sasl"
)

// MechanismOf returns how a login is done.
func MechanismOf(l Login) sasl.Mechanism { return l.mechanism() }

// WithLongTimeouts lets a test's machine be slow.
func (g *Guard) WithLongTimeouts() { g.grace = time.Minute }

// Often makes the guard check all the time.
func (g *Guard) Often() { g.again = 10 * time.Millisecond }
