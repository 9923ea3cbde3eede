package chaos

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is one process of Lodestone, with the operator who starts it again whenever it ends.
type process struct {
	name    string
	program string
	command string
	env     []string
	dir     string
	log     *slog.Logger

	cancel context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	pid     int
	killed  bool // the runner ended this life
	surplus int  // ends that no one asked for
	down    time.Time
}

// set sets a variable of the environment of the lives to come. The process must be stopped.
func (p *process) set(variable, value string) {
	p.env = append(slices.DeleteFunc(slices.Clone(p.env), func(v string) bool { return strings.HasPrefix(v, variable+"=") }), variable+"="+value)
}

// start begins the first life.
func (p *process) start() error {
	file, err := os.OpenFile(filepath.Join(p.dir, p.name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel, p.done = cancel, make(chan struct{})
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

func (p *process) run(ctx context.Context, output *os.File) {
	for ctx.Err() == nil {
		cmd := exec.CommandContext(context.WithoutCancel(ctx), p.program, p.command) // stop ends it, in order
		cmd.Env, cmd.Dir = append(os.Environ(), p.env...), p.dir
		cmd.Stdout, cmd.Stderr = output, output
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		dieWithParent(cmd.SysProcAttr)
		if err := cmd.Start(); err != nil {
			p.log.Error("cannot start", "process", p.name, "error", err)
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
			p.log.Warn("a process ended by itself", "process", p.name, "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// kill ends this life at once. The next one begins after a random pause, at least as long as down.
func (p *process) kill(down time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = time.Now().Add(down)
	p.send(syscall.SIGKILL, true)
}

func (p *process) send(s syscall.Signal, ends bool) {
	if p.pid == 0 {
		return
	}
	p.killed = p.killed || ends
	_ = syscall.Kill(p.pid, s) // it may have ended
}

// stop ends the process in order and for good, or by force when that takes too long. It may be
// started again.
func (p *process) stop(within time.Duration) {
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
	p.log.Warn("does not stop in time", "process", p.name)
	p.mu.Lock()
	p.send(syscall.SIGKILL, true)
	p.mu.Unlock()
	<-p.done
}

// running returns the id of this life, 0 between two.
func (p *process) running() int {
	pid, _ := p.status()
	return pid
}

func (p *process) status() (pid, surplus int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pid, p.surplus
}
