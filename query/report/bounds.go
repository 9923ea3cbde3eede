package report

import "time"

// Bounds returns the milliseconds since 1970 from which and before which events are meant. Nil
// times do not bound.
func Bounds(from, to *time.Time) (first, end int64) { return bounds(from, to) }
