// Package child runs one long-lived child process: it ends with its parent, is restarted when it
// dies, is probed for health, and leaves a small log.
package child

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"lodestone/pkg/service"
)

// Kind is the kind of an event in a child's life.
type Kind string

// The kinds of events.
const (
	Started   Kind = "started"   // it answered for the first time
	Died      Kind = "died"      // it ended without being stopped, or hung and was killed
	Restarted Kind = "restarted" // it answers again
	Unwell    Kind = "unwell"    // it runs and does not answer
	Well      Kind = "well"      // it answers again without having been restarted
)

// Event is one event of a child; a counter per name and kind makes a metric of it.
type Event struct {
	Name string // the Spec's name
	Kind Kind
	PID  int
	Err  error // the cause; nil if there is none
}

// Step is one way to ask a child to end, and how long to wait before the next. SIGKILL follows the
// last step.
type Step struct {
	Signal syscall.Signal // 0 closes the child's standard input
	Wait   time.Duration
}

// Spec describes a child.
type Spec struct {
	// Name is one lower-case word, used for files, logs and errors.
	Name string
	// Dir receives NAME.log and NAME.pid. It exists.
	Dir string
	// Command returns a new command for each start. Its standard input, output and error and its
	// process group are set here; other system attributes are preserved.
	Command func() *exec.Cmd
	// Probe checks whether the child serves; nil means that it does.
	Probe func(ctx context.Context) error
	// Explain derives a remedy from the last output of a failed child, or "" if it knows none.
	Explain func(output string) string
	// Hopeless reports whether a child with this output will never answer, although it runs. Nil means
	// that only its end decides.
	Hopeless func(output string) bool
	// Passing reports whether a child that ended at its first start with this output may start on the
	// next attempt. Nil means that the first failure is final.
	Passing func(output string) bool
	// DeathSignal is the signal that the kernel sends the child when its parent ends (Linux).
	DeathSignal syscall.Signal
	// Stop lists the steps that ask the child to end.
	Stop []Step
	// StartTimeout bounds the time from a start to the first successful probe. Default 30 s.
	StartTimeout time.Duration
	// HangAfter is how long a running child may go without a successful probe before it counts as hung
	// and is restarted. Default 1 minute.
	HangAfter time.Duration
	// Log receives what an operator should know. Required.
	Log *slog.Logger
	// Observe is called with every event, if not nil. It must not block.
	Observe func(Event)
}

const (
	probeInterval   = 5 * time.Second
	defaultHang     = time.Minute
	backoffFirst    = 100 * time.Millisecond
	maxBackoff      = 10 * time.Second
	settledAfter    = 30 * time.Second // running this long resets the count of failures
	maxFailures     = 20               // in a row, about three minutes
	probePause      = 15 * time.Millisecond
	probeTimeout    = 5 * time.Second
	defaultStartMax = 30 * time.Second
	// Probes at a start have a short timeout: another process may listen there that never answers.
	firstProbeTimeout = 2 * time.Second
)

// Process is a supervised child; it implements service.Service. Start returns when the child
// answers, or with an error that ends in its last output and a remedy. Failed delivers an error
// when the child could not be restarted for about three minutes.
type Process struct {
	*service.Loop
	spec    Spec
	log     *logFile
	current atomic.Int64 // pid, 0 while none runs
}

// New returns a child that is not started yet.
func New(spec Spec) *Process {
	if spec.StartTimeout == 0 {
		spec.StartTimeout = defaultStartMax
	}
	if spec.HangAfter == 0 {
		spec.HangAfter = defaultHang
	}
	p := &Process{spec: spec, log: newLogFile(filepath.Join(spec.Dir, spec.Name+".log"))}
	p.Loop = service.NewLoop(spec.Name, p.run)
	return p
}

// PID returns the child's process id, 0 while it does not run.
func (p *Process) PID() int { return int(p.current.Load()) }

// LogPath returns the file that receives the child's output.
func (p *Process) LogPath() string { return p.log.path }

func (p *Process) run(ctx context.Context, ready func()) error {
	defer p.log.close()
	if err := stopStale(ctx, p.recordPath(), p.spec.Name, p.spec.Log); err != nil {
		return err
	}
	backoff := backoffFirst
	alive := false // it has answered once
	for failures := 0; ; {
		begin := time.Now()
		inst, err := p.launch()
		if err == nil {
			err = p.awaitAnswer(ctx, inst)
		}
		if err == nil {
			p.current.Store(int64(inst.pid()))
			p.answered(alive, inst.pid())
			alive = true
			ready()
			err = p.watch(ctx, inst)
			p.current.Store(0)
		}
		if ctx.Err() != nil {
			inst.end(p.spec.Stop)
			return ctx.Err()
		}
		inst.end(nil)
		if !alive && (p.spec.Passing == nil || !p.spec.Passing(Output(err))) {
			return err
		}
		if time.Since(begin) > settledAfter {
			failures, backoff = 0, backoffFirst
		}
		failures++
		if alive {
			p.observe(Died, inst.pid(), err)
		}
		if failures >= maxFailures {
			return fmt.Errorf("%s did not come back after %d starts: %w", p.spec.Name, failures, err)
		}
		p.spec.Log.Error("engine exited, starting it again", "engine", p.spec.Name, "retry_in", backoff, "error", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(backoff):
		}
		backoff = min(2*backoff, maxBackoff)
	}
}

func (p *Process) answered(before bool, pid int) {
	kind := Started
	if before {
		kind = Restarted
		p.spec.Log.Info("engine is back", "engine", p.spec.Name, "pid", pid)
	}
	p.observe(kind, pid, nil)
}

func (p *Process) observe(kind Kind, pid int, err error) {
	if p.spec.Observe != nil {
		p.spec.Observe(Event{Name: p.spec.Name, Kind: kind, PID: pid, Err: err})
	}
}

// awaitAnswer polls the probe until it succeeds, the child ends, or the time is over.
func (p *Process) awaitAnswer(ctx context.Context, inst *instance) error {
	bounded, cancel := context.WithTimeout(ctx, p.spec.StartTimeout)
	defer cancel()
	for {
		probe, stop := context.WithTimeout(bounded, firstProbeTimeout)
		err := p.spec.Probe(probe)
		stop()
		if err == nil {
			return p.stillRunning(inst)
		}
		select {
		case <-inst.done:
			return p.explain(fmt.Errorf("it ended while starting (%w)", inst.cause()))
		case <-bounded.Done():
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return p.explain(fmt.Errorf("it does not answer %v after its start: %w", p.spec.StartTimeout, err))
		case <-time.After(probePause):
		}
		if p.spec.Hopeless != nil && p.spec.Hopeless(p.log.tail()) {
			return p.explain(errors.New("it runs but cannot serve"))
		}
	}
}

// stillRunning detects an answer from another process on the same port.
func (p *Process) stillRunning(inst *instance) error {
	select {
	case <-inst.done:
		return p.explain(fmt.Errorf("it ended while starting (%w)", inst.cause()))
	default:
		return nil
	}
}

// watch returns when the child has ended or hangs, or ctx is done.
func (p *Process) watch(ctx context.Context, inst *instance) error {
	tick := time.NewTicker(probeInterval)
	defer tick.Stop()
	lastGood, well := time.Now(), true
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-inst.done:
			return p.explain(fmt.Errorf("it ended (%w)", inst.cause()))
		case <-tick.C:
		}
		probe, stop := context.WithTimeout(ctx, probeTimeout)
		err := p.spec.Probe(probe)
		stop()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			lastGood = time.Now()
			if !well {
				well = true
				p.observe(Well, inst.pid(), nil)
				p.spec.Log.Info("engine answers again", "engine", p.spec.Name)
			}
		case time.Since(lastGood) > p.spec.HangAfter:
			return p.explain(fmt.Errorf("it hung for %v: %w", p.spec.HangAfter, err))
		case well:
			well = false
			p.observe(Unwell, inst.pid(), err)
			p.spec.Log.Warn("engine does not answer", "engine", p.spec.Name, "error", err)
		}
	}
}

// Failure is the error of a child that failed, with its last output.
type Failure struct {
	Err    error
	Output string // the end of its log
	Remedy string // what to do, if known
	Log    string // path of the full log
}

// Error returns the remedy first and the evidence after it.
func (f *Failure) Error() string {
	var b strings.Builder
	b.WriteString(f.Err.Error())
	if f.Remedy != "" {
		b.WriteString(": " + f.Remedy)
	}
	if f.Output != "" {
		b.WriteString("\nits last output (more in " + f.Log + "):\n" + f.Output)
	}
	return b.String()
}

// Unwrap returns the underlying error.
func (f *Failure) Unwrap() error { return f.Err }

// Output returns the last output of the failed child behind an error, "" if there is none.
func Output(err error) string {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f.Output
	}
	return ""
}

func (p *Process) explain(err error) error {
	f := &Failure{Err: err, Output: p.log.tail(), Log: p.log.path}
	if p.spec.Explain != nil {
		f.Remedy = p.spec.Explain(f.Output)
	}
	return f
}

func (p *Process) recordPath() string { return recordPath(p.spec.Dir, p.spec.Name) }

// launch starts a new process of the child.
func (p *Process) launch() (*instance, error) {
	cmd := p.spec.Command()
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	// Its own process group keeps the terminal's Ctrl-C from the child: the parent stops the engines
	// in order.
	cmd.SysProcAttr.Setpgid = true
	setDeathSignal(cmd.SysProcAttr, p.spec.DeathSignal)
	cmd.Stdout, cmd.Stderr = p.log, p.log
	cmd.WaitDelay = time.Second // grandchildren may hold the pipes for longer
	p.log.startOver()
	input, output, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdin = input
	inst := &instance{cmd: cmd, stdin: output, record: p.recordPath(), done: make(chan struct{})}
	started := make(chan error, 1)
	go inst.live(started)
	if err := <-started; err != nil {
		<-inst.done
		return nil, p.explain(errors.Join(err, input.Close(), output.Close()))
	}
	if err := input.Close(); err != nil { // the child's end, which it has its own copy of
		inst.end(nil)
		return nil, err
	}
	if err := writeRecord(inst.record, cmd.Process.Pid); err != nil {
		inst.end(nil)
		return nil, fmt.Errorf("record its process number: %w", err)
	}
	return inst, nil
}
