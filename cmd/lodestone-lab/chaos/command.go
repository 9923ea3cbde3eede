// Package chaos tries to make Lodestone lose or double an event. It runs the built
// programs on real engines, sends them events, breaks things by a schedule that a seed decides,
// and at the end compares the answers that the senders got with what is stored. It fails if there is any difference.
package chaos

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"lodestone/cmd/lodestone-lab/chaos/mutant"
	"lodestone/cmd/lodestone-lab/clock"
	"lodestone/pkg/engine"
)

// Command is `lodestone-lab chaos`.
type Command struct {
	Seed     uint64        `name:"seed" help:"Seed of the schedule; a random one if 0, which is printed."`
	Duration time.Duration `name:"duration" default:"30m" help:"How long to break things, at least."`
	Events   int64         `name:"events" default:"10000000" help:"How many events have to be acknowledged before the end."`
	Faults   int           `name:"faults" default:"100" help:"How many faults to inject before the end."`
	Rate     int           `name:"rate" default:"0" help:"Events to send in a second; 0 for as many as are taken."`
	Senders  int           `name:"senders" default:"16" help:"Clients that send at the same time."`
	Steps    []string      `name:"steps" help:"Inject these faults, in this order, and end."`
	Only     []string      `name:"only" help:"Choose from these faults only."`
	List     bool          `name:"list" help:"List the faults and end."`
	Mutant   string        `name:"mutant" help:"Break this rule in the programs, to see that the run finds out."`
	Mutants  bool          `name:"mutants" help:"Break one rule after the other, each in a short run or the tests of its package, and fail if one is not noticed. Nothing else is done."`
	Dir      string        `name:"dir" help:"Directory for data, logs and the ledger; a temporary one, which is removed after success, if empty."`
	Report   string        `name:"report" help:"File to write the report to as well."`
}

var errFound = errors.New("the run found something wrong")

// Run breaks things, and prints what it found.
func (c *Command) Run(ctx context.Context) (err error) {
	if c.List {
		for _, f := range faults() {
			fmt.Println(f.name)
		}
		return nil
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if c.Mutants {
		return tryMutants(ctx, c.Dir, log)
	}
	if c.Seed == 0 {
		c.Seed = rand.Uint64N(1 << 32)
	}
	dir, temporary := c.Dir, c.Dir == ""
	if temporary {
		if dir, err = os.MkdirTemp("", "lodestone-chaos-"); err != nil {
			return err
		}
	}
	// PostgreSQL, which is another user if we are root, passes through.
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, 0o711)); err != nil { //nolint:gosec // as above
		return err
	}
	programs := filepath.Join(dir, "bin")
	if err := buildPrograms(ctx, programs, c.Mutant); err != nil {
		return err
	}
	r, err := chaos(ctx, options{
		Seed: c.Seed, Duration: c.Duration, Events: c.Events, Faults: c.Faults, Rate: c.Rate, Senders: c.Senders, Brokers: 3, Steps: c.Steps, Only: c.Only,
		Pause: 2 * time.Second, Recover: 5 * time.Minute, Dir: dir, Programs: programs, Log: log,
	})
	if r != nil {
		err = errors.Join(err, c.publish(r))
	}
	if err == nil && !r.ok() {
		err = fmt.Errorf("%w (--seed %d); data and logs are in %s", errFound, c.Seed, dir)
	}
	if err == nil && temporary {
		err = engine.RemoveDir(dir)
	}
	return err
}

func (c *Command) publish(r *report) error {
	if err := r.write(os.Stdout); err != nil || c.Report == "" {
		return err
	}
	file, err := os.Create(c.Report)
	if err != nil {
		return err
	}
	return errors.Join(r.write(file), file.Close())
}

// buildPrograms compiles the programs as `make build` does, but that their clocks can be moved, and with the rule broken that a
// mutant names; none if empty.
func buildPrograms(ctx context.Context, dir, broken string) error {
	names := []string{"lodestone", "lodestone-clickhouse"}
	sources, err := clock.Sources("cmd/"+names[0], "cmd/"+names[1])
	if err != nil {
		return err
	}
	if broken != "" {
		m, err := mutant.Find(broken)
		if err != nil {
			return err
		}
		changed, err := m.Sources(ctx)
		if err != nil {
			return err
		}
		sources = sources.With(changed)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	for _, name := range names {
		cmd, err := sources.Go(ctx, filepath.Join(dir, "sources"), "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w",
			"-o", filepath.Join(dir, name), "lodestone/cmd/"+name)
		if err != nil {
			return err
		}
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w: %s", name, err, out)
		}
	}
	return nil
}
