package bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Metered is a process that can be watched. Its name is that of the values: two of one name are added up.
type Metered struct {
	Name string
	PID  int
	// Alone leaves its child processes out.
	Alone bool
}

// Client is this process, which makes the load.
func Client() Metered { return Metered{Name: "client", PID: os.Getpid(), Alone: true} }

// Use is what a process used while it was watched.
type Use struct {
	CPU    time.Duration // user and system, with its child processes, to 10 ms
	Peak   int64         // most resident memory, bytes, with its child processes
	Steady int64         // median of it
}

// Watcher meters processes until it is stopped.
type Watcher struct {
	processes []Metered
	before    []time.Duration
	quit      chan struct{}
	done      sync.WaitGroup

	mu  sync.Mutex
	rss [][]int64
}

const (
	watchInterval = 200 * time.Millisecond
	tick          = time.Second / 100 // USER_HZ, which is 100 on every Linux
)

// Watch begins to meter processes. It needs Linux's /proc.
func Watch(processes ...Metered) (*Watcher, error) {
	w := &Watcher{processes: processes, quit: make(chan struct{}), rss: make([][]int64, len(processes))}
	for _, p := range processes {
		// From here on VmHWM is the most of this run. If it cannot be set, the samples have to do.
		_ = os.WriteFile(procFile(p.PID, "clear_refs"), []byte("5"), 0)
		cpu, err := p.cpu()
		if err != nil {
			return nil, err
		}
		w.before = append(w.before, cpu)
	}
	w.done.Go(func() {
		ticker := time.NewTicker(watchInterval)
		defer ticker.Stop()
		for {
			w.look()
			select {
			case <-w.quit:
				return
			case <-ticker.C:
			}
		}
	})
	return w, nil
}

func (w *Watcher) look() {
	living := everyProcess()
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, p := range w.processes {
		if rss := p.held(living); rss > 0 {
			w.rss[i] = append(w.rss[i], rss)
		}
	}
}

// Stop ends the metering and returns what each process used. An error says that a process ended
// meanwhile.
func (w *Watcher) Stop() (map[string]Use, error) {
	after := make([]time.Duration, len(w.processes))
	var failed error
	for i, p := range w.processes {
		cpu, err := p.cpu()
		if err != nil {
			failed = err
		}
		after[i] = cpu
	}
	close(w.quit)
	w.done.Wait()
	if failed != nil {
		return nil, failed
	}
	all := map[string]Use{}
	for i, p := range w.processes {
		u := all[p.Name]
		u.CPU += after[i] - w.before[i]
		peak := status(p.PID, "VmHWM:")
		if len(w.rss[i]) > 0 {
			slices.Sort(w.rss[i])
			u.Steady += w.rss[i][len(w.rss[i])/2]
			peak = max(peak, w.rss[i][len(w.rss[i])-1])
		}
		u.Peak += peak
		all[p.Name] = u
	}
	return all, nil
}

// held is the resident memory of a process and its living descendants: the anonymous memory of each, and once the most that one of
// them has of files and shared memory, which is where PostgreSQL's buffers and a program's text are. It is not exact: what a fork has
// not written to counts for each, and files that only one of them reads may not count.
func (m Metered) held(living map[int]stat) int64 {
	var children []int
	if !m.Alone {
		children = descendants(living, m.PID)
	}
	if len(children) == 0 {
		return status(m.PID, "VmRSS:")
	}
	own, shared := int64(0), int64(0)
	for _, pid := range append(children, m.PID) {
		own += status(pid, "RssAnon:")
		shared = max(shared, status(pid, "RssFile:")+status(pid, "RssShmem:"))
	}
	return own + shared
}

// cpu is the time that a process and its children, also those that ended, have used.
func (m Metered) cpu() (time.Duration, error) {
	own, err := readStat(m.PID)
	if err != nil {
		return 0, fmt.Errorf("read what %s used: %w", m.Name, err)
	}
	if m.Alone {
		return own.self, nil
	}
	all := own.self + own.ended
	living := everyProcess()
	for _, pid := range descendants(living, m.PID) {
		all += living[pid].self + living[pid].ended
	}
	return all, nil
}

type stat struct {
	parent      int
	self, ended time.Duration // ended: of children that were waited for
}

func readStat(pid int) (stat, error) {
	text, err := os.ReadFile(procFile(pid, "stat"))
	if err != nil {
		return stat{}, err
	}
	// The name, in brackets, may hold anything. utime is field 14, counted from 1; state, after the name, 3.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	const first = 3
	if len(fields) < 17-first+1 {
		return stat{}, fmt.Errorf("%s has an unknown form", procFile(pid, "stat"))
	}
	var n [4]time.Duration
	for i := range n {
		ticks, err := strconv.ParseInt(fields[14-first+i], 10, 64)
		if err != nil {
			return stat{}, err
		}
		n[i] = time.Duration(ticks) * tick
	}
	parent, err := strconv.Atoi(fields[4-first])
	return stat{parent: parent, self: n[0] + n[1], ended: n[2] + n[3]}, err
}

// everyProcess returns the processes that live, by their ids.
func everyProcess() map[int]stat {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil // no Linux: nothing is known of any process
	}
	all := map[int]stat{}
	for _, e := range entries {
		if id, err := strconv.Atoi(e.Name()); err == nil {
			if s, err := readStat(id); err == nil { // else it has ended since
				all[id] = s
			}
		}
	}
	return all
}

// descendants returns the ids of a process's living descendants.
func descendants(living map[int]stat, pid int) (list []int) {
	for id, s := range living {
		for up := s.parent; up > 1; up = living[up].parent {
			if up == pid && id != pid {
				list = append(list, id)
				break
			}
		}
	}
	return list
}

// status returns a number of bytes of /proc/PID/status, 0 if it is not known.
func status(pid int, field string) int64 {
	text, err := os.ReadFile(procFile(pid, "status"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, field); ok {
			kb, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			if err != nil {
				return 0
			}
			return kb << 10
		}
	}
	return 0
}

func procFile(pid int, name string) string {
	return filepath.Join("/proc", strconv.Itoa(pid), name)
}
