package machine

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithParent makes the kernel kill the process when the thread that started it ends.
func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

// LimitDescriptors sets how many descriptors a process may have, and returns what undoes that. Those that are open stay open.
func LimitDescriptors(pid int, limit uint64) (undo func() error, err error) {
	var before unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &before); err != nil {
		return nil, fmt.Errorf("read the limit of descriptors: %w", err)
	}
	if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: limit, Max: before.Max}, nil); err != nil {
		return nil, fmt.Errorf("limit descriptors: %w", err)
	}
	return func() error {
		// A process that ended meanwhile took its limit with it.
		if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, &before, nil); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("restore the limit of descriptors: %w", err)
		}
		return nil
	}, nil
}

// Exchange swaps the names of two files in one step.
func Exchange(a, b string) error {
	if err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE); err != nil {
		return fmt.Errorf("exchange %s and %s: %w", a, b, err)
	}
	return nil
}
