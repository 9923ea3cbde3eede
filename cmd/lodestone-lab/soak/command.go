// Package soak runs an installation for hours under a steady load, while an operator does what operators do and each part is killed: it is
// backed up, destroyed and restored, and a person is erased. At the end it compares what was acknowledged with
// what is stored, and the memory of each process with what it was. The runner of package chaos does all but the memory.
package soak

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lodestone/cmd/lodestone-lab/bench"
	"lodestone/cmd/lodestone-lab/chaos"
	"lodestone/cmd/lodestone-lab/overlay"
	"lodestone/pkg/engine"
)

// Command is `lodestone-lab soak`.
type Command struct {
	Duration time.Duration `name:"duration" default:"2h" help:"How long events are sent."`
	Rate     int           `name:"rate" default:"10000" help:"Events to send in a second. What is late after an outage is not made up for."`
	Batch    int           `name:"events-per-request" default:"100" help:"Events of each request; 0 for requests of 1 to 500 events."`
	Senders  int           `name:"senders" default:"16" help:"Clients that send at the same time. A quarter of them send views of landing pages, and a quarter send everything three times."`
	Brokers  int           `name:"brokers" default:"1" help:"Brokers of Kafka: 1, or 3 that each have every record."`
	Seed     uint64        `name:"seed" help:"Seed of what is killed for how long, and of who is erased; a random one if 0, which is printed."`
	Sample   time.Duration `name:"sample" default:"5s" help:"Interval at which memory is sampled."`
	WarmUp   time.Duration `name:"warm-up" help:"Time after a start, a fault or an operation from which memory has to be flat. Default: a twentieth of the duration."`
	Steps    []string      `name:"steps" help:"Do these, one after the other, instead of everything."`
	Dir      string        `name:"dir" help:"Directory for data, logs and the ledger; a temporary one, which is removed after success, if empty."`
	Out      string        `name:"out" default:"." help:"Directory for the samples, as soak.csv."`
}

var errFound = errors.New("the soak found something wrong")

// kinds are what is killed, in turn.
var kinds = []string{"collector", "consumer", "clickhouse", "postgres", "broker", "query", "crud"}

// plan returns when what happens. Long times without a restart come after the first kills, after the restore, and at the end.
func plan(duration time.Duration) (steps []chaos.Step) {
	at := func(share float64, name string) {
		steps = append(steps, chaos.Step{At: time.Duration(share * float64(duration)), Name: name})
	}
	killEach := func(from float64) {
		for i, kind := range kinds {
			at(from+float64(i)/100, "kill -9 "+kind)
		}
	}
	killEach(0.20)
	at(0.42, chaos.Backup)
	at(0.45, chaos.Backup)
	at(0.47, chaos.EraseOne)
	at(0.50, chaos.RestoreBoth)
	killEach(0.68)
	return steps
}

func (c *Command) plan() (steps []chaos.Step) {
	if len(c.Steps) == 0 {
		return plan(c.Duration)
	}
	for _, name := range c.Steps {
		steps = append(steps, chaos.Step{Name: name})
	}
	return steps
}

// Run makes the run and prints its report.
func (c *Command) Run(ctx context.Context) (err error) {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if c.Seed == 0 {
		c.Seed = rand.Uint64N(1 << 32)
	}
	dir, temporary := c.Dir, c.Dir == ""
	if temporary {
		if dir, err = os.MkdirTemp("", "lodestone-soak-"); err != nil {
			return err
		}
	}
	// PostgreSQL, which is another user if we are root, passes through.
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, 0o711), os.MkdirAll(c.Out, 0o755)); err != nil { //nolint:gosec // as above; samples are no secret
		return err
	}
	programs, err := build(ctx, dir)
	if err != nil {
		return err
	}
	result, err := c.run(ctx, dir, programs, c.plan(), log)
	if result != nil {
		err = errors.Join(err, c.publish(ctx, result))
	}
	if err == nil && !result.ok() {
		err = fmt.Errorf("%w (--seed %d); data and logs are in %s", errFound, c.Seed, dir)
	}
	if err == nil && temporary {
		err = engine.RemoveDir(dir)
	}
	return err
}

// build compiles the programs, and returns their directory.
func build(ctx context.Context, dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	programs := filepath.Join(dir, "bin")
	return programs, chaos.Build(ctx, programs)
}

// result is what a run has to say.
type result struct {
	*chaos.Result
	samples samples
	calms   []calm
	growing []string // a sentence for each thing that is not flat, or of which nothing is known
}

// judge looks for growth in the samples.
func (r *result) judge(warmUp time.Duration) {
	r.calms = r.samples.calms(warmUp)
	r.growing = append(r.samples.unmeasured(r.calms, warmUp), flat(r.calms)...)
}

func (r *result) ok() bool { return r.OK && len(r.growing) == 0 }

func (c *Command) run(ctx context.Context, dir, programs string, steps []chaos.Step, log *slog.Logger) (*result, error) {
	const limit = 15 * time.Minute // also of what came in during a restore
	r := &result{}
	done, err := chaos.Soak{
		Seed: c.Seed, Duration: c.Duration, Recover: limit, Rate: c.Rate, Batch: c.Batch, Senders: c.Senders, Brokers: c.Brokers, Steps: steps,
		Dir: dir, Programs: programs, Log: log,
		Watch: func(ctx context.Context, look func() chaos.Look) { r.samples.watch(ctx, c.Sample, look) },
	}.Run(ctx)
	if done == nil {
		return nil, err
	}
	r.Result = done
	r.judge(cmp.Or(c.WarmUp, c.Duration/20))
	return r, err
}

// publish prints the report and writes the samples.
func (c *Command) publish(ctx context.Context, r *result) error {
	text, err := c.report(ctx, r)
	if err != nil {
		return err
	}
	fmt.Print(text)
	file, err := os.Create(filepath.Join(c.Out, "soak.csv"))
	if err != nil {
		return err
	}
	return errors.Join(r.samples.write(file), file.Close())
}

// report is markdown for docs/soak.md.
func (c *Command) report(ctx context.Context, r *result) (string, error) {
	version, err := overlay.Version(ctx)
	if err != nil {
		return "", err
	}
	machine, err := bench.ThisMachine(version)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s: `make soak SOAK=\"--duration %v --rate %d --events-per-request %d --senders %d --brokers %d --seed %d\"`.\n\n",
		time.Now().UTC().Format("2 January 2006"), machine, c.Duration, c.Rate, c.Batch, c.Senders, c.Brokers, c.Seed)
	fmt.Fprintf(&b, "Events were sent for %v, of which %.0f were acknowledged in a second on average.\n\n", r.Load.Round(time.Second), float64(r.Acked)/r.Load.Seconds())
	b.WriteString(r.Report + "\n" + table(r.calms) + "\n")
	for _, sentence := range r.growing {
		b.WriteString("- **not flat**: " + sentence + "\n")
	}
	if len(r.growing) == 0 {
		fmt.Fprintf(&b, "Memory, goroutines and descriptors are flat in %d calm times of the processes.\n", len(r.calms))
	}
	return b.String(), nil
}
