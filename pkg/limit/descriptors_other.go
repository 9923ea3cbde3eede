//go:build !unix

package limit

// Descriptors returns how many file descriptors the process may have open, or false if that is not
// known.
func Descriptors() (uint64, bool) { return 0, false }
