//go:build !linux

package machine

import (
	"fmt"
	"syscall"
)

// dieWithParent does nothing: only Linux can tie a process to its parent.
func dieWithParent(*syscall.SysProcAttr) {}

func LimitDescriptors(int, uint64) (undo func() error, err error) {
	return nil, fmt.Errorf("%w: only Linux limits the descriptors of another process", ErrLeftOut)
}

func Exchange(string, string) error {
	return fmt.Errorf("%w: only Linux exchanges files in one step", ErrLeftOut)
}
