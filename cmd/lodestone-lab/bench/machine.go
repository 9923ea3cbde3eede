package bench

import (
	"fmt"
	"runtime"

	"github.com/prometheus/procfs"
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

func thisMachine(version string) (Machine, error) {
	m := Machine{CPU: "unknown CPU", Cores: runtime.NumCPU(), System: runtime.GOOS, Go: runtime.Version(), Version: version}
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return m, fmt.Errorf("read /proc, which only Linux has: %w", err)
	}
	if cpus, err := fs.CPUInfo(); err == nil && len(cpus) > 0 {
		m.CPU = cpus[0].ModelName
	}
	if info, err := fs.Meminfo(); err == nil && info.MemTotal != nil {
		m.Memory = fmt.Sprintf("%.1f GiB", float64(*info.MemTotal)/(1<<20))
	}
	if load, err := fs.LoadAvg(); err == nil {
		m.Load = fmt.Sprintf("%.2f %.2f %.2f", load.Load1, load.Load5, load.Load15)
	}
	return m, nil
}
