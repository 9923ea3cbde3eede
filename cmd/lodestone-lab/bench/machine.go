package bench

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// Machine is where the figures come from.
type Machine struct {
	CPU     string `json:"cpu"`
	Cores   int    `json:"cores"`
	Memory  string `json:"memory"`
	System  string `json:"system"`
	Go      string `json:"go"`
	Version string `json:"version"` // of Lodestone
	Load    string `json:"load"`    // average of 1, 5 and 15 minutes before the first run
}

// String is the machine in one line.
func (m Machine) String() string {
	return fmt.Sprintf("%s, %d cores, %s of memory, %s, %s, lodestone %s, load before %s", m.CPU, m.Cores, m.Memory, m.System, m.Go, m.Version, m.Load)
}

func thisMachine(version string) Machine {
	m := Machine{
		CPU: field("/proc/cpuinfo", "model name"), Cores: runtime.NumCPU(), Memory: field("/proc/meminfo", "MemTotal"),
		System: runtime.GOOS + " " + strings.TrimSpace(text("/proc/sys/kernel/osrelease")), Go: runtime.Version(), Version: version,
	}
	var kb int64
	if _, err := fmt.Sscanf(m.Memory, "%d kB", &kb); err == nil {
		m.Memory = fmt.Sprintf("%.1f GiB", float64(kb)/(1<<20))
	}
	if averages := strings.Fields(text("/proc/loadavg")); len(averages) >= 3 {
		m.Load = strings.Join(averages[:3], " ")
	}
	return m
}

// text is a file of the system's, "" if it has none.
func text(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(b)
}

// field is the first value of a name in a file of lines "name: value".
func field(path, name string) string {
	for line := range strings.Lines(text(path)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}
