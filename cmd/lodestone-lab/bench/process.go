package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/procfs"

	"lodestone/cmd/lodestone-lab/probe"
	"lodestone/pkg/config"
	"lodestone/pkg/engine/child"
)

const (
	startTimeout = 3 * time.Minute
	stopTimeout  = 30 * time.Second
)

// Process is a child process. It ends with this one, also when this one is killed.
type Process struct {
	Name string
	// Admin is the address of its /metrics, "" if it has none.
	Admin string

	child *child.Process
	pid   int // of the life that was started
}

// Start runs a command of a program in a child process, with the settings given and no others, and
// returns when probe does without an error. The caller stops it.
func (b *Bench) Start(ctx context.Context, name, program string, env []string, probe func(context.Context) error,
	args ...string) (*Process, error) {
	dir := b.File("processes")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	p := &Process{Name: name}
	p.child = child.New(child.Spec{
		Name: name, Dir: dir, Log: slog.New(slog.DiscardHandler), // what ended shows when it is stopped
		Command: func() *exec.Cmd {
			cmd := exec.Command(program, args...) //nolint:noctx // the supervisor stops it
			cmd.Env, cmd.Dir = append(cleanEnvironment(), env...), b.Dir
			return cmd
		},
		Probe: probe, DeathSignal: syscall.SIGKILL, StartTimeout: startTimeout,
		Stop: []child.Step{{Signal: syscall.SIGTERM, Wait: stopTimeout}},
	})
	if err := p.child.Start(ctx); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p.pid = p.child.PID()
	return p, nil
}

// Lodestone starts a process of Lodestone on the engines, with ordinary settings but for those
// given, as "NAME=value" without the prefix. It returns when the process is ready. The caller stops
// it.
func (b *Bench) Lodestone(ctx context.Context, e *Engines, command string, settings ...string) (*Process, error) {
	admin, err := probe.FreeAddress()
	if err != nil {
		return nil, err
	}
	env := append(e.Environment(), config.EnvPrefix+"_ADMIN_LISTEN="+admin, config.EnvPrefix+"_LOG_LEVEL=WARN")
	for _, s := range settings {
		env = append(env, config.EnvPrefix+"_"+s)
	}
	p, err := b.Start(ctx, command, b.program, env, ready(admin), command)
	if err != nil {
		return nil, err
	}
	p.Admin = admin
	return p, nil
}

// Once runs a command of Lodestone to its end, on the engines. Its error has what it printed.
func (b *Bench) Once(ctx context.Context, e *Engines, args ...string) error {
	cmd := exec.CommandContext(ctx, b.program, args...)
	cmd.Env, cmd.Dir = append(cleanEnvironment(), e.Environment()...), b.Dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("lodestone %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

// Metered is the process for Watch.
func (p *Process) Metered() Metered { return Metered{Name: p.Name, PID: p.pid} }

// Stop ends the process in order and waits for it. An error says that it had ended by itself
// before, so that what was measured on it is worth nothing.
func (p *Process) Stop(ctx context.Context) error {
	if p == nil {
		return nil
	}
	pid := p.child.PID()
	err := p.child.Stop(ctx)
	if pid != p.pid {
		err = errors.Join(err, fmt.Errorf("%s ended by itself while it was measured: see %s", p.Name,
			filepath.Base(p.child.LogPath())))
	}
	return err
}

// cleanEnvironment is this process's without settings of Lodestone.
func cleanEnvironment() []string {
	var all []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, config.EnvPrefix+"_") {
			all = append(all, v)
		}
	}
	return all
}

// ready asks an admin address whether its process can do its work.
func ready(admin string) func(context.Context) error {
	return func(ctx context.Context) error { return probe.Ready(ctx, admin) }
}

// Metered is a process that can be watched. Its name is that of the values.
type Metered struct {
	Name string
	PID  int
	// Alone leaves its child processes out.
	Alone bool
}

// Client is this process, which makes the load.
func Client() Metered { return Metered{Name: "client", PID: os.Getpid(), Alone: true} }

// Use is the CPU time and memory of a watched process.
type Use struct {
	CPU  time.Duration // user and system, with its child processes, to 10 ms
	Peak uint64        // largest resident memory, bytes, with its child processes
}

// Watcher meters processes until it is stopped.
type Watcher struct {
	processes []Metered
	before    []time.Duration
	peaks     []uint64
	quit      chan struct{}
	done      sync.WaitGroup
}

// Watch begins to meter processes. It needs Linux's /proc.
func Watch(processes ...Metered) (*Watcher, error) {
	const interval = 200 * time.Millisecond
	w := &Watcher{processes: processes, peaks: make([]uint64, len(processes)), quit: make(chan struct{})}
	for _, p := range processes {
		// From here on the kernel's peak is that of this run. If it cannot be reset, the samples have to
		// do.
		_ = os.WriteFile(filepath.Join("/proc", strconv.Itoa(p.PID), "clear_refs"), []byte("5"), 0)
		cpu, err := p.cpu()
		if err != nil {
			return nil, err
		}
		w.before = append(w.before, cpu)
	}
	w.done.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			for i, p := range w.processes {
				w.peaks[i] = max(w.peaks[i], p.resident())
			}
			select {
			case <-w.quit:
				return
			case <-ticker.C:
			}
		}
	})
	return w, nil
}

// Stop ends the metering and returns what each process used, by name. An error says that a process
// ended meanwhile.
func (w *Watcher) Stop() (map[string]Use, error) {
	all := map[string]Use{}
	var failed error
	for i, p := range w.processes {
		cpu, err := p.cpu()
		if err != nil {
			failed = err
		}
		all[p.Name] = Use{CPU: cpu - w.before[i]}
	}
	close(w.quit)
	w.done.Wait()
	for i, p := range w.processes {
		all[p.Name] = Use{CPU: all[p.Name].CPU, Peak: w.peaks[i]}
	}
	return all, failed
}

// tree returns the process and its living descendants.
func (m Metered) tree() ([]procfs.Proc, error) {
	own, err := procfs.NewProc(m.PID)
	if err != nil {
		return nil, fmt.Errorf("read what %s uses: %w", m.Name, err)
	}
	tree := []procfs.Proc{own}
	if m.Alone {
		return tree, nil
	}
	living, err := procfs.AllProcs()
	if err != nil {
		return nil, err
	}
	children := map[int][]procfs.Proc{}
	for _, p := range living {
		if s, err := p.Stat(); err == nil { // else it has ended since
			children[s.PPID] = append(children[s.PPID], p)
		}
	}
	for i := 0; i < len(tree); i++ {
		tree = append(tree, children[tree[i].PID]...)
	}
	return tree, nil
}

// cpu is the time that a process and its children, also those that ended, have used.
func (m Metered) cpu() (time.Duration, error) {
	const tick = time.Second / 100 // USER_HZ, which is 100 on every Linux
	tree, err := m.tree()
	if err != nil {
		return 0, err
	}
	var ticks int
	for i, p := range tree {
		s, err := p.Stat()
		if err != nil && i == 0 {
			return 0, fmt.Errorf("read what %s used: %w", m.Name, err)
		}
		ticks += int(s.UTime + s.STime)
		if !m.Alone {
			ticks += s.CUTime + s.CSTime
		}
	}
	return time.Duration(ticks) * tick, nil
}

// resident is the resident memory of a process and its living descendants: the anonymous memory of
// each, and once the largest part that one of them has of files and shared memory, which is where
// PostgreSQL's buffers and a program's text are. It is an estimate: pages that a fork has not
// written to count for each, and files that only one of them reads may not count.
func (m Metered) resident() (bytes uint64) {
	tree, err := m.tree()
	if err != nil {
		return 0
	}
	shared := uint64(0)
	for _, p := range tree {
		if s, err := p.NewStatus(); err == nil {
			bytes += s.RssAnon
			shared = max(shared, s.RssFile+s.RssShmem)
			if len(tree) == 1 {
				return max(s.VmHWM, s.VmRSS)
			}
		}
	}
	return bytes + shared
}

// Machine is where the figures come from.
type Machine struct {
	CPU     string
	Cores   int
	Memory  string
	System  string
	Go      string
	Version string // of Lodestone
	Load    string // average of 1, 5 and 15 minutes before the first run
}

// String is the machine in one line.
func (m Machine) String() string {
	return fmt.Sprintf("%s, %d cores, %s of memory, %s, %s, lodestone %s, load before %s", m.CPU, m.Cores, m.Memory,
		m.System, m.Go, m.Version, m.Load)
}

// ThisMachine describes the machine, and a version of Lodestone on it.
func ThisMachine(version string) (Machine, error) {
	m := Machine{CPU: "unknown CPU", Cores: runtime.NumCPU(), System: runtime.GOOS,
		Go: runtime.Version(), Version: version}
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
