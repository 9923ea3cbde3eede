//go:build unix

package pdf

import (
	"syscall"
	"time"
)

// limitProcess makes the system end this process when it computes for too long. What it cannot
// set is left to the timeout of who waits for the process.
func limitProcess() {
	seconds := uint64(timeout / time.Second)
	_ = syscall.Setrlimit(syscall.RLIMIT_CPU, &syscall.Rlimit{Cur: seconds, Max: seconds})
	_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: maxMemory, Max: maxMemory})
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
}
