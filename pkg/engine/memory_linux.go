package engine

import "golang.org/x/sys/unix"

// machineMemory returns the machine's memory in bytes, 0 if it cannot be told.
func machineMemory() int64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0
	}
	return int64(info.Totalram) * int64(info.Unit)
}
