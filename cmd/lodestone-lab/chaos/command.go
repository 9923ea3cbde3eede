// Package chaos tries to make Lodestone lose or double an event. It runs the built programs on real
// engines, sends them events, breaks things by a schedule that a seed decides, and at the end
// compares the answers that the senders got with what is stored. It fails if there is any
// difference.
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
	"lodestone/cmd/lodestone-lab/overlay"
	"lodestone/pkg/engine"
)

// Command is `lodestone-lab chaos`.
type Command struct {
	Seed     uint64        `name:"seed" help:"Seed of the schedule; a random one if 0, which is printed."`
	Duration time.Duration `name:"duration" default:"30m" help:"How long to break things, at least."`
	Events   int64         `name:"events" default:"10000000" help:"How many events have to be acknowledged before the end."`
	Faults   int           `name:"faults" default:"40" help:"How many faults to inject before the end."`
	Rate     int           `name:"rate" default:"0" help:"Events to send in a second; 0 for as many as are taken."`
	Senders  int           `name:"senders" default:"16" help:"Clients that send at the same time."`
	Steps    []string      `name:"steps" help:"Inject these faults, in this order, and end."`
	Only     []string      `name:"only" help:"Choose from these faults only."`
	List     bool          `name:"list" help:"List the faults and end."`
	Cluster  bool          `name:"cluster" xor:"installation" help:"Run two ClickHouse shards, two query processes and PgBouncer, and add the faults of such a cluster."`
	Copies   bool          `name:"copies" xor:"installation" help:"Run a second copy of the events and a query process that reads both, and add the faults of copies. In the middle of the run, the second copy is lost, and restored from a backup of the first."`
	Away     time.Duration `name:"copy-away" default:"10m" help:"With --copies, how long the copy that is lost stays away before it is restored."`
	Mutant   string        `name:"mutant" help:"Break this rule in the programs, to see that the run finds out."`
	Mutants  bool          `name:"mutants" help:"Break one rule after the other, each in a short run or the tests of its package, and fail if one is not noticed. Nothing else is done."`
	Dir      string        `name:"dir" help:"Directory for data, logs and the ledger; a temporary one, which is removed after success, if empty."`
}

var errFound = errors.New("the run found something wrong")

// Run breaks things, and prints what it found.
func (c *Command) Run(ctx context.Context) error {
	if c.List {
		for _, f := range faults() {
			if (!f.cluster || c.Cluster) && (!f.copies || c.Copies) {
				fmt.Println(f.name)
			}
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
	return inDirectory(c.Dir, c.Seed, func(dir string) (bool, error) {
		programs := filepath.Join(dir, "bin")
		if err := buildPrograms(ctx, programs, c.Mutant); err != nil {
			return false, err
		}
		r, err := chaos(ctx, options{
			Seed: c.Seed, Duration: c.Duration, Events: c.Events, Faults: c.Faults, Rate: c.Rate, Senders: c.Senders, Brokers: 3,
			Cluster: c.Cluster, Copies: c.Copies, Steps: c.Steps, Only: c.Only,
			Pause: 2 * time.Second, Recover: 5 * time.Minute, Away: c.Away, Dir: dir, Programs: programs, Log: log,
		})
		if r == nil {
			return false, err
		}
		return r.ok(), errors.Join(err, r.write(os.Stdout))
	})
}

// inDirectory makes a run in a directory, and returns an error if it found something. If none is
// given it is a temporary one, which is removed after success.
func inDirectory(dir string, seed uint64, run func(dir string) (ok bool, err error)) (err error) {
	temporary := dir == ""
	if temporary {
		if dir, err = os.MkdirTemp("", "lodestone-chaos-"); err != nil {
			return err
		}
	}
	// PostgreSQL, which is another user if we are root, passes through.
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, 0o711)); err != nil { //nolint:gosec // PostgreSQL's user passes through
		return err
	}
	ok, err := run(dir)
	if err == nil && !ok {
		err = fmt.Errorf("%w (--seed %d); data and logs are in %s", errFound, seed, dir)
	}
	if err == nil && temporary {
		err = engine.RemoveDir(dir)
	}
	return err
}

// buildPrograms compiles the programs as `make build` does, but that their clocks can be moved, and
// with the rule broken that a mutant names; none if empty.
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
	return compile(ctx, sources, dir, names...)
}

// compile compiles programs with other sources than those that are there.
func compile(ctx context.Context, sources overlay.Sources, dir string, names ...string) (err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	for _, name := range names {
		cmd, err := sources.Go(ctx, filepath.Join(dir, "sources"), "build", "-trimpath",
			"-buildvcs=false", "-ldflags", "-s -w",
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

var errUnnoticed = errors.New("the run does not notice it")

// tryMutants breaks one rule after the other, and returns which were not noticed. A directory that
// is given is kept.
func tryMutants(ctx context.Context, dir string, log *slog.Logger) error {
	var errs []error
	for i, m := range mutant.All() {
		begin := time.Now()
		err := tryMutant(ctx, m, dir, i, log)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		verdict := "caught"
		if err != nil {
			verdict = "NOT CAUGHT"
			errs = append(errs, err)
		}
		fmt.Printf("%s: %s, in %v\n", m.Name, verdict, time.Since(begin).Round(time.Second))
	}
	return errors.Join(errs...)
}

// tryMutant returns nil if a rule that is broken is noticed.
func tryMutant(ctx context.Context, m mutant.Mutant, dir string, number int, log *slog.Logger) error {
	if dir != "" {
		dir = filepath.Join(dir, fmt.Sprint("mutant", number+1))
	}
	return inDirectory(dir, mutantSeed, func(dir string) (bool, error) {
		if m.Package != "" {
			return true, m.RunTests(ctx, dir)
		}
		return true, runMutant(ctx, m, dir, log)
	})
}

// mutantSeed is the seed of runs that are to find a broken rule.
const mutantSeed = 20261

// runMutant lets a schedule run on programs that are broken, and returns nil if that shows.
func runMutant(ctx context.Context, m mutant.Mutant, dir string, log *slog.Logger) error {
	programs := filepath.Join(dir, "bin")
	if err := buildPrograms(ctx, programs, m.Name); err != nil {
		return err
	}
	o := options{
		Seed: mutantSeed, Rate: 800, Senders: 8, Brokers: 1, Steps: m.Steps,
		Pause: 1500 * time.Millisecond, Recover: 10 * time.Minute,
		NoSpool: m.NoSpool, Dir: dir, Programs: programs, Log: log,
	}
	if m.Sign == mutant.Stuck {
		o.Recover = time.Minute
	}
	r, err := chaos(ctx, o)
	if m.Sign == mutant.Stuck && errors.Is(err, errStuck) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("mutant %q: %w", m.Name, err)
	}
	if shows := map[mutant.Sign]bool{
		mutant.Lost: r.Findings.Lost > 0, mutant.Doubled: r.Findings.Doubled > 0, mutant.Broken: len(r.Broken) > 0,
	}[m.Sign]; r.ok() || !shows {
		return errors.Join(fmt.Errorf("mutant %q: %w", m.Name, errUnnoticed), r.write(os.Stderr))
	}
	return nil
}
