// Package descriptor is about the file descriptors of this process: how many it may have, and how
// an error says that there are none left.
package descriptor

import (
	"errors"
	"syscall"
)

// IsExhausted reports whether an error says that the process or the machine has no free file
// descriptor, or no kernel memory for one. That passes: the operation may be tried again.
func IsExhausted(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOBUFS) || errors.Is(err, syscall.ENOMEM)
}
