package chaos

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"lodestone/cmd/lodestone-lab/clock"
)

// clocks are those of the processes, each of which can be moved alone.
type clocks struct {
	dir      string
	files    map[string]*clock.File // by the process's name
	postgres string                 // the library that moves PostgreSQL's; empty: there is no compiler
}

//go:embed clock.c.txt
var clockSource []byte

func newClocks(ctx context.Context, dir string, log *slog.Logger) (*clocks, error) {
	c := &clocks{dir: dir, files: map[string]*clock.File{}}
	if !clock.Supported {
		log.Info("clocks stay: " + clock.ErrUnsupported.Error())
		return c, nil
	}
	library, source := filepath.Join(dir, "clock.so"), filepath.Join(dir, "clock.c")
	if err := os.WriteFile(source, clockSource, 0o600); err != nil {
		return nil, err
	}
	if output, err := exec.CommandContext(ctx, "cc", "-shared", "-fPIC", "-O2", "-o", library, source).CombinedOutput(); err != nil {
		log.Info("PostgreSQL's clock stays: it takes a C compiler", "error", err, "output", string(output))
		return c, nil
	}
	c.postgres = library
	return c, nil
}

// environment returns the variables that let a process follow its clock, which is made.
func (c *clocks) environment(name string) []string {
	if name == "" || !clock.Supported || name == "postgres" && c.postgres == "" {
		return nil
	}
	file, err := clock.Make(filepath.Join(c.dir, "clock-"+name))
	if err != nil {
		return nil // its clock stays, and the fault that wants to move it says so
	}
	c.files[name] = file
	variables := []string{clock.Variable + "=" + file.Path()}
	if name == "postgres" {
		variables = append(variables, "LD_PRELOAD="+c.postgres)
	}
	return variables
}

// set moves the clock of a process.
func (c *clocks) set(name string, ahead time.Duration) error {
	file := c.files[name]
	if file == nil {
		return fmt.Errorf("%w: the clock of %s cannot be moved on this machine", errLeftOut, name)
	}
	return file.Set(ahead)
}

// hour returns an hour and up to half of one more, back or forth: Kafka draws a line at an hour.
func (s *scene) hour() time.Duration {
	d := time.Hour + s.between(0, 30*time.Minute)
	if s.rand.IntN(2) == 0 {
		return -d
	}
	return d.Round(time.Second)
}

// jump moves the clocks of some processes, of each on its own, a few times, and then back to the
// right time, which is a jump as well.
func jump(name string, short bool, prefixes ...string) fault {
	return fault{name: "clock jumps: " + name, short: short, inject: func(ctx context.Context, s *scene) error {
		var names []string
		for name := range s.clocks.files {
			if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		if len(names) == 0 {
			return fmt.Errorf("%w: the clocks of %v cannot be moved on this machine", errLeftOut, prefixes)
		}
		var err error
		for range 2 + s.rand.IntN(3) {
			for _, name := range names {
				ahead := s.hour()
				s.note("the clock of %s is set %v ahead", name, ahead)
				err = errors.Join(err, s.clocks.set(name, ahead), s.moved(ctx, name, ahead))
			}
			if err = errors.Join(err, s.hold(ctx, s.between(time.Second, 5*time.Second))); err != nil {
				break
			}
		}
		for _, name := range names {
			err = errors.Join(err, s.clocks.set(name, 0))
		}
		s.note("the clocks are right again")
		return err
	}}
}

// moved asks ClickHouse for its time, and returns an error if the clock that was set did not move.
func (w *world) moved(ctx context.Context, name string, ahead time.Duration) error {
	if name != "clickhouse" {
		return nil
	}
	var now time.Time
	if err := retry(ctx, "ask ClickHouse for its time", func() error { return w.store.QueryRow(ctx, "SELECT now()").Scan(&now) }); err != nil {
		return err
	}
	if off := now.Sub(time.Now().Add(ahead)); off.Abs() > 10*time.Minute {
		return fmt.Errorf("ClickHouse's clock was set %v ahead, and is %v off that", ahead, off)
	}
	return nil
}

// jumpAroundZombie stops a consumer for longer than its session lasts, and meanwhile sets its clock and
// that of ClickHouse back: by either, the time of the insert that it stopped in is not over.
func jumpAroundZombie(ctx context.Context, s *scene) error {
	number := s.rand.IntN(consumers)
	p, d := s.consumers[number], s.between(sessionTimeout+3*time.Second, 20*time.Second)
	own, server := s.hour().Abs(), s.hour().Abs()
	pid, _ := p.Status()
	if pid == 0 {
		s.note("%s is not running: nothing to stop", p.Name)
		return nil
	}
	s.note("SIGSTOP %s for %v; its clock is set %v back, ClickHouse's %v", p.Name, d, own, server)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return fmt.Errorf("stop process %s: %w", strconv.Itoa(pid), err)
	}
	err := errors.Join(s.clocks.set(p.Name, -own), s.clocks.set("clickhouse", -server))
	if err == nil {
		err = s.hold(ctx, d)
	}
	_ = syscall.Kill(pid, syscall.SIGCONT) // it may have ended
	err = errors.Join(err, s.hold(ctx, s.between(2*time.Second, 5*time.Second)))
	return errors.Join(err, s.clocks.set(p.Name, 0), s.clocks.set("clickhouse", 0))
}
