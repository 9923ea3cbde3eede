package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"lodestone/cmd/lodestone-lab/probe"
	"lodestone/pkg/config"
	"lodestone/pkg/engine"
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
func (b *Bench) Start(ctx context.Context, name, program string, env []string, probe func(context.Context) error, args ...string) (*Process, error) {
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

// Lodestone starts a process of Lodestone on the engines, with ordinary settings but for those given, as
// "NAME=value" without the prefix. It returns when the process is ready. The caller stops it.
func (b *Bench) Lodestone(ctx context.Context, e *Engines, command string, settings ...string) (*Process, error) {
	admin, err := FreeAddress()
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

// Stop ends the process in order and waits for it. An error says that it had ended by itself before, so
// that what was measured on it is worth nothing.
func (p *Process) Stop(ctx context.Context) error {
	if p == nil {
		return nil
	}
	pid := p.child.PID()
	err := p.child.Stop(ctx)
	if pid != p.pid {
		err = errors.Join(err, fmt.Errorf("%s ended by itself while it was measured: see %s", p.Name, filepath.Base(p.child.LogPath())))
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

// Ports for what the bench starts lie between those of engines and those that the system gives to whoever
// asks for any, so that no other program takes one between its choice and its use: the bench itself opens hundreds of
// connections, and much else may run beside it.
const (
	firstPort = 32_001
	lastPort  = 32_767
)

var ports = engine.NewPorts(firstPort, lastPort)

// FreeAddress returns an address of this machine that is not listened on, and that it has not returned lately.
func FreeAddress() (string, error) {
	port, err := ports.Free()
	if err != nil {
		return "", err
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), nil
}

// ready asks an admin address whether its process can do its work.
func ready(admin string) func(context.Context) error {
	return func(ctx context.Context) error { return probe.Ready(ctx, admin) }
}
