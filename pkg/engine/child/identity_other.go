//go:build !linux

package child

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// identity identifies one process: its start time and its command line, so that a reused pid is
// never mistaken for the old process.
func identity(pid int) (string, error) {
	out, err := exec.Command("ps", "-o", "lstart=,command=", "-p", strconv.Itoa(pid)).Output()
	text := strings.TrimSpace(string(out))
	if text == "" {
		return "", os.ErrNotExist
	}
	if err != nil {
		return "", fmt.Errorf("ask ps for process %d: %w", pid, err)
	}
	return text, nil
}
