//go:build !unix

package sandbox

func limitProcess(uint64) {}

// LimitCPU lets this process, which does a task, compute for so many seconds more, where the system
// can hold it to that.
func LimitCPU(uint64) {}
