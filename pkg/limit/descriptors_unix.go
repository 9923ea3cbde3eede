//go:build unix

package limit

import "syscall"

// Descriptors returns how many file descriptors the process may have open, or false if that is not
// known. Go's runtime has raised the soft limit to the hard one when the process started.
func Descriptors() (uint64, bool) {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0, false
	}
	return uint64(limit.Cur), true //nolint:unconvert // it is signed on some systems
}
