package bench

import (
	"os"
	"strconv"
	"strings"
)

// residentTree returns the resident memory of a process and its descendants, by the names of their
// programs. What processes of one name share, such as PostgreSQL's buffers and every program's own
// text, is counted once.
func residentTree(root int) map[string]int64 {
	all := map[string]int64{}
	shared := map[string]int64{}
	for _, pid := range append(descendants(everyProcess(), root), root) {
		name := programOf(pid)
		if name == "" {
			continue // it ended meanwhile
		}
		private, common := resident(pid)
		all[name] += private
		shared[name] = max(shared[name], common)
	}
	for name, n := range shared {
		all[name] += n
	}
	return all
}

func programOf(pid int) string {
	text, err := os.ReadFile(procFile(pid, "comm"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// resident returns the resident memory of a process: what only it has, and what others may have as well. If
// the system does not tell them apart, all of it is taken for its own.
func resident(pid int) (private, shared int64) {
	text, err := os.ReadFile(procFile(pid, "smaps_rollup"))
	if err != nil {
		return status(pid, "VmRSS:"), 0
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		kb, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil {
			continue
		}
		switch {
		case strings.HasPrefix(fields[0], "Private_"):
			private += kb << 10
		case strings.HasPrefix(fields[0], "Shared_"):
			shared += kb << 10
		}
	}
	return private, shared
}
