package ratelimit

import "time"

// Patient lets a test's machine be slow.
func (l *Limiter) Patient() *Limiter {
	l.timeout = time.Minute
	return l
}
