// Package bench measures Lodestone against the limits of its parts, in the same run and on the same
// machine, so that a figure means something anywhere.
//
// A Case is one thing that is measured. It has sides: the first is the system, as a user runs it; the
// others are limits, that do the least that has to be done. Bench.Measure runs the sides in turn
// (A B, B A, A B, …), so that a machine that grows slower meets both, and judges each Target by the
// median of the ratios of runs that stood side by side.
//
//	err := b.Measure(ctx, bench.Case{
//		Name: "consume/one", Title: "Kafka to ClickHouse, exactly once",
//		Sides: []bench.Side{
//			{Name: "consumer", Run: func(ctx context.Context) (bench.Sample, error) { … }},
//			{Name: "ch-go", Run: func(ctx context.Context) (bench.Sample, error) { … }},
//		},
//		Targets: []bench.Target{{What: "≥ 65 % of ch-go alone", Value: bench.Rate, Against: "ch-go", AtLeast: 0.65}},
//	})
//
// A Sample holds named values; the name has the unit (Rate, Latency(0.99), CPU("collector"),
// Peak("collector"), or any text such as "bytes/event"). Watch meters processes while a run lasts:
//
//	watch, err := bench.Watch(append(e.Processes(), p, bench.Client()))
//	… the run …
//	s.AddUse(watch.Stop(), events)
//
// A suite (see suite in suite.go) is the cases of one subcommand. It gets fresh engines (Engines), which are
// stopped and removed after it. What is measured runs in child processes:
// Bench.Lodestone starts `lodestone collector` and the like on the engines with ordinary settings and waits
// until it is ready; Bench.Start starts anything else, such as a limit's server, which is a hidden subcommand of this program.
//
// To add a suite: a file with its cases and fooOptions with a method `suite() suite`, a field in
// Command and in allCommand (command.go).
//
// Nothing here is asserted: targets are met or not, and the report says which.
package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lodestone/pkg/engine"
)

// Bench is one execution: its settings, its directory, and the report that it fills.
type Bench struct {
	Settings

	// Dir is for whatever a suite keeps while it runs. It is removed at the end.
	Dir string
	// Log receives what a person should know while it runs.
	Log *slog.Logger

	progress io.Writer
	self     string // this program
	program  string // the one that is measured
	report   *Report
}

// newBench returns a bench with a directory of its own, which close removes.
func newBench(s Settings, progress io.Writer) (*Bench, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the own program: %w", err)
	}
	program, err := filepath.Abs(cmp.Or(s.Program, filepath.Join(filepath.Dir(self), "lodestone")))
	if err != nil {
		return nil, err
	}
	version, err := exec.Command(program, "version").Output() //nolint:noctx // it prints a line
	if err != nil {
		return nil, fmt.Errorf("ask the program that is measured for its version (--program; make build): %w", err)
	}
	dir, err := os.MkdirTemp(s.Dir, "lodestone-bench-")
	if err != nil {
		return nil, fmt.Errorf("make a directory (--dir): %w", err)
	}
	if err := os.Chmod(dir, 0o711); err != nil { //nolint:gosec // PostgreSQL, another user if root runs this, passes through
		return nil, errors.Join(err, engine.RemoveDir(dir))
	}
	b := &Bench{
		Settings: s, Dir: dir, progress: progress, self: self, program: program,
		Log:    newLog(progress),
		report: &Report{Machine: thisMachine(strings.TrimSpace(string(version))), Runs: s.Runs, Seed: s.Seed, Quick: s.Quick, Began: time.Now().UTC().Truncate(time.Second)},
	}
	return b, nil
}

func (b *Bench) close() error { return engine.RemoveDir(b.Dir) }

// Sayf prints a line for the person who waits.
func (b *Bench) Sayf(format string, args ...any) { fmt.Fprintf(b.progress, format+"\n", args...) }

// Wanted reports whether the case of a name is to be measured (--only), so that a suite need not
// prepare what is not.
func (b *Bench) Wanted(name string) bool {
	return len(b.Only) == 0 || slices.ContainsFunc(b.Only, func(part string) bool { return strings.Contains(name, part) })
}

// File returns a path in the bench's directory.
func (b *Bench) File(parts ...string) string {
	return filepath.Join(append([]string{b.Dir}, parts...)...)
}

// run runs suites one after another, each on fresh engines, and prints what they found. The settings are valid.
func run(ctx context.Context, s Settings, command string, suites ...suite) (err error) {
	if slices.ContainsFunc(suites, suite.empties) {
		if err := s.requireEmpty(ctx); err != nil {
			return err
		}
	}
	b, err := newBench(s, os.Stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	b.report.Command = command
	var failed []error // what was measured before and after is worth its place in the report
	for _, one := range suites {
		for i, kafka := range s.kafkas() {
			if i > 0 && !one.kafka || ctx.Err() != nil {
				continue
			}
			if err := b.runSuite(ctx, one, kafka); err != nil {
				failed = append(failed, fmt.Errorf("bench %s on %s Kafka: %w", one.name, kafka, err))
				b.Sayf("%v", failed[len(failed)-1])
			}
		}
	}
	b.report.Took = time.Since(b.report.Began).Round(time.Second).String()
	return errors.Join(append(failed, b.report.publish(os.Stdout, s))...)
}

func (b *Bench) runSuite(ctx context.Context, s suite, kafka string) (err error) {
	if s.bare {
		return s.run(ctx, b, nil)
	}
	if s.cases != nil && !slices.ContainsFunc(s.cases(kafka), b.Wanted) {
		return nil
	}
	b.Sayf("%s on %s Kafka: starting the engines", s.name, kafka)
	e, err := b.startEngines(ctx, kafka, s.empties())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.stop(context.WithoutCancel(ctx))) }()
	return s.run(ctx, b, e)
}
