package child

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// identity identifies one process: its start in clock ticks since boot, with the boot's own id, so
// that a reused pid is never mistaken for the old process.
func identity(pid int) (string, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	// The command in parentheses may hold blanks; the start time is the 20th field after it.
	_, rest, ok := bytes.Cut(stat[bytes.LastIndexByte(stat, ')'):], []byte(" "))
	fields := bytes.Fields(rest)
	if !ok || len(fields) < 20 {
		return "", fmt.Errorf("unexpected /proc/%d/stat", pid)
	}
	if string(fields[0]) == "Z" {
		return "", os.ErrNotExist
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(boot)) + " " + string(fields[19]), nil
}
