package retention

// BeforeDrop calls fn when nothing but dropping is left of a step.
func (j *Job) BeforeDrop(fn func()) { j.beforeDrop = fn }
