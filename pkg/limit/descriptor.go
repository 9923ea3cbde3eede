package limit

import (
	"errors"
	"syscall"
)

// IsOutOfDescriptors reports whether an error says that the process or the machine has no free file
// descriptor, or no kernel memory for one. That passes: the operation may be tried again.
func IsOutOfDescriptors(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOBUFS) ||
		errors.Is(err, syscall.ENOMEM)
}
