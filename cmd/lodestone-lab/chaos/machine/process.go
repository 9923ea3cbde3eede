// Package machine has what the chaos runner breaks: processes, the connections between them, and
// disks.
package machine

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Process is one process of Lodestone, with the operator who starts it again whenever it ends.
type Process struct {
	Name    string
	Program string
	Command string
	Env     []string
	Dir     string
	Log     *slog.Logger

	cancel context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	pid     int
	killed  bool // the runner ended this life
	surplus int  // ends that no one asked for
	down    time.Time
}

// Start begins the first life.
func (p *Process) Start() error {
	file, err := os.OpenFile(filepath.Join(p.Dir, p.Name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel, p.done = cancel, make(chan struct{})
	p.mu.Lock()
	p.down = time.Time{} // of a life before
	p.mu.Unlock()
	go func() {
		defer close(p.done)
		defer func() { _ = file.Close() }()
		// The kernel's parent-death signal follows the thread that forks.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		p.run(ctx, file)
	}()
	return nil
}

func (p *Process) run(ctx context.Context, output *os.File) {
	for ctx.Err() == nil {
		cmd := exec.CommandContext(context.WithoutCancel(ctx), p.Program, p.Command) // Stop ends it, in order
		cmd.Env, cmd.Dir = append(os.Environ(), p.Env...), p.Dir
		cmd.Stdout, cmd.Stderr = output, output
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		dieWithParent(cmd.SysProcAttr)
		if err := cmd.Start(); err != nil {
			p.Log.Error("cannot start", "process", p.Name, "error", err)
			return
		}
		p.mu.Lock()
		p.pid, p.killed = cmd.Process.Pid, false
		p.mu.Unlock()
		err := cmd.Wait()
		p.mu.Lock()
		p.pid = 0
		expected := p.killed || ctx.Err() != nil
		if !expected {
			p.surplus++
		}
		wait := max(time.Duration(rand.IntN(1500))*time.Millisecond, time.Until(p.down))
		p.mu.Unlock()
		if !expected {
			p.Log.Warn("a process ended by itself", "process", p.Name, "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// Kill ends this life at once. The next one begins after a random pause, at least as long as down.
func (p *Process) Kill(down time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = time.Now().Add(down)
	p.send(syscall.SIGKILL, true)
}

func (p *Process) send(s syscall.Signal, ends bool) {
	if p.pid == 0 {
		return
	}
	p.killed = p.killed || ends
	_ = syscall.Kill(p.pid, s) // it may have ended
}

// Stop ends the process in order and for good, or by force when that takes too long. It may be
// started again.
func (p *Process) Stop(within time.Duration) {
	if p.cancel == nil {
		return // never started
	}
	p.cancel()
	p.mu.Lock()
	p.send(syscall.SIGCONT, false)
	p.send(syscall.SIGTERM, true)
	p.mu.Unlock()
	select {
	case <-p.done:
		return
	case <-time.After(within):
	}
	p.Log.Warn("does not stop in time", "process", p.Name)
	p.mu.Lock()
	p.send(syscall.SIGKILL, true)
	p.mu.Unlock()
	<-p.done
}

// Running returns the id of this process, 0 between two.
func (p *Process) Running() int {
	pid, _ := p.Status()
	return pid
}

// Status returns the id of the running process, 0 between two, and how often it ended without being
// asked to.
func (p *Process) Status() (pid, surplus int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pid, p.surplus
}
