package quota

import "time"

// Often makes it look all the time.
func (e *Exceeded) Often() { e.interval = 10 * time.Millisecond }
