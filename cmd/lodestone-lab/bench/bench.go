// Package bench measures Lodestone against the limits of its parts, in the same run and on the same
// machine, so that a figure means something anywhere.
//
// A Case is one thing that is measured. It has sides: the first is the system, as a user runs it;
// the others are limits, which do only what has to be done. Bench.Measure runs the sides in turn (A
// B, B A, A B, …), so that a machine that grows slower meets both, and prints the medians, and
// those of the ratios of runs that stood side by side.
//
// A Sample holds named values; the name has the unit (Rate, Latency(0.99), CPU("collector"),
// Peak("collector"), or any text such as "bytes/event"). Watch meters processes while a run lasts.
//
// A suite is the cases of one subcommand. It gets fresh engines (Engines), which are stopped and
// removed after it. What is measured runs in child processes: Bench.Lodestone starts `lodestone
// collector` and the like on the engines with ordinary settings and waits until it is ready;
// Bench.Start starts anything else, such as a limit's server, which is a hidden subcommand of this
// program.
//
// To add a suite: a file with its cases and fooOptions with a method `suite() suite`, a field in
// Command and in allCommand (command.go).
//
// Nothing here is asserted: docs/performance.md has what each case should reach.
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
	"strconv"
	"strings"
	"time"

	"lodestone/pkg/engine"
)

// Bench is one execution: its settings, its directory, and what it found.
type Bench struct {
	Settings

	// Dir is for whatever a suite keeps while it runs. It is removed at the end.
	Dir string
	// Log receives what a person should know while it runs.
	Log *slog.Logger

	out, progress io.Writer
	self          string // this program
	program       string // the one that is measured
	results       map[string]*Result
}

// newBench returns a bench with a directory of its own, which close removes.
func newBench(s Settings) (*Bench, error) {
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
	name, _, _ := strings.Cut(strings.TrimPrefix(string(version), "lodestone "), "\n")
	machine, err := ThisMachine(name)
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
	b := &Bench{
		Settings: s, Dir: dir, out: os.Stdout, progress: os.Stderr, self: self, program: program, Log: newLog(os.Stderr),
		results: map[string]*Result{},
	}
	fmt.Fprintf(b.out, "\n`lodestone-lab %s`: %s, seed %d; %s\n", strings.Join(os.Args[1:], " "),
		time.Now().UTC().Format("2 January 2006 15:04 MST"), s.Seed, machine)
	return b, nil
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
	return errors.Join(failed...)
}

func (b *Bench) runSuite(ctx context.Context, s suite, kafka string) (err error) {
	if !slices.ContainsFunc(s.cases,
		func(name string) bool { return b.Wanted(strings.ReplaceAll(name, anyKafka, kafka)) }) {
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

// Case is one thing that is measured: the system beside its limits.
type Case struct {
	// Name is unique in a run, such as "collect/embedded/one/512".
	Name string
	// Title says in a few words what is measured.
	Title string
	// Sides: the first is the system, the others are its limits.
	Sides []Side
	// Warm is how often each side runs before, without being counted.
	Warm int
	// Runs is how often each side runs; 0: as the settings say.
	Runs int
}

// Side is one of the things that a case compares.
type Side struct {
	Name string
	// Run is one run. It is called from one goroutine.
	Run func(ctx context.Context) (Sample, error)
}

// Sample holds the values that one run measured, by names that include the unit.
type Sample map[string]float64

// Rate is the name of a throughput.
const Rate = "events/s"

// Latency is the name of a percentile in milliseconds: Latency(0.99) is "p99 ms".
func Latency(q float64) string { return "p" + strconv.FormatFloat(q*100, 'f', -1, 64) + " ms" }

// CPU is the name of a process's CPU time, user and system, per event in microseconds.
func CPU(process string) string { return "CPU µs/event " + process }

// Peak is the name of the largest resident memory of a process during a run, in MiB.
func Peak(process string) string { return "peak MiB " + process }

// AddUse adds what processes used in a run, per event.
func (s Sample) AddUse(use map[string]Use, events int64) {
	for name, u := range use {
		s[CPU(name)] = float64(u.CPU.Microseconds()) / float64(max(events, 1))
		s[Peak(name)] = float64(u.Peak) / (1 << 20)
	}
}

// Measure runs the sides of a case in turn and puts what they find into the report. It does nothing
// if the case is not wanted.
func (b *Bench) Measure(ctx context.Context, c Case) error {
	if !b.Wanted(c.Name) {
		return nil
	}
	runs := cmp.Or(c.Runs, b.Runs)
	if b.Quick {
		runs = min(runs, quickRuns)
	}
	result := &Result{Name: c.Name, Title: c.Title}
	for _, s := range c.Sides {
		result.Sides = append(result.Sides, &SideResult{Name: s.Name})
	}
	begin := time.Now()
	for run := -c.Warm; run < runs; run++ {
		order := make([]int, len(c.Sides))
		for i := range order {
			order[i] = i
		}
		if run%2 != 0 {
			slices.Reverse(order)
		}
		for _, i := range order {
			sample, err := c.Sides[i].Run(ctx)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", c.Name, c.Sides[i].Name, err)
			}
			if run >= 0 {
				result.Sides[i].Runs = append(result.Sides[i].Runs, sample)
			}
		}
	}
	result.Took = time.Since(begin)
	b.results[c.Name] = result
	_, err := io.WriteString(b.out, result.markdown())
	return err
}
