package retention

// BeforeDrop calls fn when nothing but dropping is left of a step.
func (j *Job) BeforeDrop(fn func()) { j.beforeDrop = fn }

// WriteDown sets how many rows are written down at a time, and calls fn after each time.
func (j *Job) WriteDown(rows uint64, fn func()) { j.rangeRows, j.wrote = rows, fn }

// ProvenFor is how long a step may begin to drop after its lock was confirmed.
const ProvenFor = provenFor

// Clock returns the time of a server.
var Clock = clock
