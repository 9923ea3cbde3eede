//go:build unix

package sandbox

import (
	"syscall"
)

// limitProcess makes the system end this process when it computes for too long, or wants too much
// memory. What it cannot set is left to the timeout of who waits for the process.
func limitProcess(seconds uint64) {
	_ = syscall.Setrlimit(syscall.RLIMIT_CPU, &syscall.Rlimit{Cur: seconds, Max: seconds})
	_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: maxMemory, Max: maxMemory})
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
}

// LimitCPU lets this process, which does a task, compute for so many seconds more, and no longer
// than it could before.
func LimitCPU(seconds uint64) {
	var used syscall.Rusage
	var limit syscall.Rlimit
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil || syscall.Getrlimit(syscall.RLIMIT_CPU, &limit) != nil {
		return
	}
	// The hard limit, since Go takes no notice of the signal that tells of the soft one.
	limit.Max = min(limit.Max, uint64(used.Utime.Sec+used.Stime.Sec)+1+seconds)
	limit.Cur = limit.Max
	_ = syscall.Setrlimit(syscall.RLIMIT_CPU, &limit)
}
