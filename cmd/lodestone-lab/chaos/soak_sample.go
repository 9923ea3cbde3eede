package chaos

import (
	"context"
	"encoding/csv"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"lodestone/cmd/lodestone-lab/probe"
)

// sample is a process's use of resources at a time.
type sample struct {
	at          time.Duration // since the begin
	step        string        // the operation or fault meanwhile; "": none
	process     string
	pid         int
	engine      bool
	resident    uint64 // bytes
	goroutines  int64  // 0: an engine, or not known
	descriptors int
}

// samples are those of all processes in a run.
type samples struct{ all []sample }

// watch samples the processes of a world until ctx ends.
func (s *samples) watch(ctx context.Context, every time.Duration, w *world) {
	begin, tick := time.Now(), time.NewTicker(every)
	defer tick.Stop()
	for {
		step, _ := w.doing.Load().(string)
		pids, at := w.pids(), time.Since(begin)
		for _, name := range slices.Sorted(maps.Keys(pids)) {
			admin, pid := w.admins[name], pids[name]
			one := sample{at: at, step: step, process: name, pid: pid, engine: admin == "", resident: probe.Resident(pid),
				descriptors: probe.Descriptors(pid)}
			if pid == 0 || one.resident == 0 { // between two lives
				continue
			}
			if !one.engine {
				one.goroutines, _ = probe.Metric(ctx, admin, "go_goroutines") // it may be starting or ending
			}
			s.all = append(s.all, one)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// write writes the samples as CSV.
func (s *samples) write(to io.Writer) error {
	out := csv.NewWriter(to)
	// Error has it
	_ = out.Write([]string{"seconds", "step", "process", "pid", "resident_bytes", "goroutines", "descriptors"})
	for _, one := range s.all {
		_ = out.Write([]string{
			strconv.FormatFloat(one.at.Seconds(), 'f', 1, 64), one.step, one.process, strconv.Itoa(one.pid),
			strconv.FormatUint(one.resident, 10), strconv.FormatInt(one.goroutines, 10), strconv.Itoa(one.descriptors),
		}) // Error has it
	}
	out.Flush()
	return out.Error()
}
