package retention

import "time"

// BeforeDrop calls fn when nothing but dropping is left of a step.
func (j *Job) BeforeDrop(fn func()) { j.beforeDrop = fn }

// WriteDown sets how many rows are written down at a time, and calls fn after each time.
func (j *Job) WriteDown(rows uint64, fn func()) { j.rangeRows, j.wrote = rows, fn }

// ProvenFor sets how long a step may begin to drop after its lock was confirmed.
func (j *Job) ProvenFor(d time.Duration) { j.provenFor = d }
