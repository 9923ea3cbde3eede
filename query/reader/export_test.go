package reader

// SetMaxLinks lowers the number of access links that a list is restricted to: it takes seconds to
// store so many.
func (r *Readers) SetMaxLinks(n int) { r.maxLinks = n }
