//go:build !unix

package descriptor

// Limit returns how many file descriptors the process may have open, or false if that is not known.
func Limit() (uint64, bool) { return 0, false }
