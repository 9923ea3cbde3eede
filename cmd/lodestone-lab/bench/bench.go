// Package bench measures Lodestone against the limits of its parts, in the same run and on the same
// machine, so that a figure means something anywhere.
//
// A Case is one thing that is measured. It has sides: the first is the system, as a user runs it; the
// others are limits, which do only what has to be done. Bench.Measure runs the sides in turn
// (A B, B A, A B, …), so that a machine that grows slower meets both, and judges each Target by the
// median of the ratios of runs that stood side by side.
//
// A Sample holds named values; the name has the unit (Rate, Latency(0.99), CPU("collector"),
// Peak("collector"), or any text such as "bytes/event"). Watch meters processes while a run lasts.
//
// A suite is the cases of one subcommand. It gets fresh engines (Engines), which are
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
	machine, err := thisMachine(strings.TrimPrefix(strings.TrimSpace(string(version)), "lodestone "))
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(s.Dir, "lodestone-bench-")
	if err != nil {
		return nil, fmt.Errorf("make a directory (--dir): %w", err)
	}
	if err := os.Chmod(dir, 0o711); err != nil { //nolint:gosec // PostgreSQL, another user if root runs this, passes through
		return nil, errors.Join(err, engine.RemoveDir(dir))
	}
	return &Bench{
		Settings: s, Dir: dir, progress: progress, self: self, program: program, Log: newLog(progress),
		report: &Report{Machine: machine, Runs: s.Runs, Seed: s.Seed, Quick: s.Quick, Began: time.Now().UTC().Truncate(time.Second)},
	}, nil
}

func newLog(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelWarn}))
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
func (b *Bench) File(name string) string { return filepath.Join(b.Dir, name) }

// run runs suites. One that fails does not keep the others from being measured and reported.
func (b *Bench) run(ctx context.Context, all []options) error {
	var failed []error
	for _, kafka := range b.kafkas() {
		for _, o := range all {
			one := o.suite()
			if kafka != b.kafkas()[0] && !one.kafka || ctx.Err() != nil {
				continue
			}
			if err := b.runSuite(ctx, one, kafka); err != nil {
				failed = append(failed, fmt.Errorf("bench %s on %s Kafka: %w", one.name, kafka, err))
				b.Sayf("%v", failed[len(failed)-1])
			}
		}
	}
	b.report.Took = time.Since(b.report.Began).Round(time.Second).String()
	return errors.Join(append(failed, b.report.write(os.Stdout), b.report.save(b.JSON))...)
}

func (b *Bench) runSuite(ctx context.Context, s suite, kafka string) (err error) {
	if !slices.ContainsFunc(s.cases, func(name string) bool { return b.Wanted(strings.ReplaceAll(name, anyKafka, kafka)) }) {
		return nil
	}
	if s.bare {
		return s.run(ctx, b, nil)
	}
	b.Sayf("%s on %s Kafka: starting the engines", s.name, kafka)
	e, err := b.startEngines(ctx, kafka)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.stop(context.WithoutCancel(ctx))) }()
	return s.run(ctx, b, e)
}

// anyKafka stands for the Kafka that a suite runs on in the names of its cases.
const anyKafka = "{kafka}"
