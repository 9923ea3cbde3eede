// Command lodestone-chaos tries to make Lodestone lose or double an event. It runs the built
// programs on real engines, sends them events, breaks things by a schedule that a seed decides,
// and at the end compares what the senders were told with what is stored. It ends with status 1
// if there is any difference.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"lodestone/pkg/engine"
)

type command struct {
	Seed     uint64        `name:"seed" help:"Seed of the schedule; a random one if 0, which is printed."`
	Duration time.Duration `name:"duration" default:"30m" help:"How long to break things, at least."`
	Events   int64         `name:"events" default:"10000000" help:"How many events have to be acknowledged before the end."`
	Rate     int           `name:"rate" default:"0" help:"Events to send in a second; 0 for as many as are taken."`
	Senders  int           `name:"senders" default:"16" help:"Clients that send at the same time."`
	Steps    []string      `name:"steps" help:"Inject these faults, in this order, and end."`
	Only     []string      `name:"only" help:"Choose from these faults only."`
	List     bool          `name:"list" help:"List the faults and end."`
	Tags     string        `name:"tags" help:"Build tags, to see that a program which is broken on purpose is caught."`
	Dir      string        `name:"dir" help:"Directory for data, logs and the ledger; a temporary one, which is removed after success, if empty."`
	Report   string        `name:"report" help:"File to write the report to as well."`
}

func main() {
	var c command
	kong.Parse(&c, kong.Name("lodestone-chaos"), kong.Description("Try to make Lodestone lose or double an event."))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := c.run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "lodestone-chaos:", err)
		os.Exit(1)
	}
}

var errFound = errors.New("the run found something wrong")

func (c *command) run(ctx context.Context) (err error) {
	if c.List {
		for _, f := range faults() {
			fmt.Println(f.name)
		}
		return nil
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
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
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, 0o711)); err != nil { //nolint:gosec // as said
		return err
	}
	programs := filepath.Join(dir, "bin")
	if err := buildPrograms(ctx, programs, c.Tags); err != nil {
		return err
	}
	r, err := chaos(ctx, options{
		Seed: c.Seed, Duration: c.Duration, Events: c.Events, Rate: c.Rate, Senders: c.Senders, Brokers: 3, Steps: c.Steps, Only: c.Only,
		Pause: 4 * time.Second, Recover: 5 * time.Minute, Dir: dir, Programs: programs, Log: log,
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

func (c *command) publish(r *report) error {
	if err := r.write(os.Stdout); err != nil || c.Report == "" {
		return err
	}
	file, err := os.Create(c.Report)
	if err != nil {
		return err
	}
	return errors.Join(r.write(file), file.Close())
}

// buildPrograms compiles the programs as `make build` does, but that their clocks can be moved.
func buildPrograms(ctx context.Context, dir, tags string) error {
	for _, name := range []string{"lodestone", "lodestone-clickhouse"} {
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-tags", "chaos_clock,"+tags,
			"-o", filepath.Join(dir, name), "lodestone/cmd/"+name)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w: %s", name, err, out)
		}
	}
	return nil
}
