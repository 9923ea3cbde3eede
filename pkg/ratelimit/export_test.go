package ratelimit

import "time"

// WithLongTimeouts lets a test's machine be slow.
func (l *Limiter) WithLongTimeouts() *Limiter {
	l.timeout = time.Minute
	return l
}
