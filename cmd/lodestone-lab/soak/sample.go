package soak

import (
	"context"
	"encoding/csv"
	"io"
	"strconv"
	"time"

	"lodestone/cmd/lodestone-lab/chaos"
	"lodestone/cmd/lodestone-lab/probe"
)

// sample is what a process used at a time.
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

// samples is what all processes used in a run.
type samples struct{ all []sample }

// watch samples the processes until ctx ends.
func (s *samples) watch(ctx context.Context, every time.Duration, look func() chaos.Look) {
	begin, tick := time.Now(), time.NewTicker(every)
	defer tick.Stop()
	for {
		now, at := look(), time.Since(begin)
		for _, r := range now.Running {
			if r.PID == 0 {
				continue
			}
			one := sample{at: at, step: now.Step, process: r.Name, pid: r.PID, engine: r.Admin == "", resident: probe.Resident(r.PID), descriptors: probe.Descriptors(r.PID)}
			if !one.engine {
				one.goroutines, _ = probe.Metric(ctx, r.Admin, "go_goroutines") // it may be starting or ending
			}
			if one.resident > 0 {
				s.all = append(s.all, one)
			}
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
	_ = out.Write([]string{"seconds", "step", "process", "pid", "resident_bytes", "goroutines", "descriptors"}) // Error has it
	for _, one := range s.all {
		_ = out.Write([]string{
			strconv.FormatFloat(one.at.Seconds(), 'f', 1, 64), one.step, one.process, strconv.Itoa(one.pid),
			strconv.FormatUint(one.resident, 10), strconv.FormatInt(one.goroutines, 10), strconv.Itoa(one.descriptors),
		}) // as above
	}
	out.Flush()
	return out.Error()
}
