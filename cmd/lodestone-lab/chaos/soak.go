package chaos

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"lodestone/cmd/lodestone-lab/bench"
	"lodestone/cmd/lodestone-lab/overlay"
)

// SoakCommand is `lodestone-lab soak`. It runs an installation for hours under a steady load, while
// an operator does what operators do and each part is killed: it is backed up, destroyed and
// restored, and a person is erased. The memory of each process has to stay what it was.
type SoakCommand struct {
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

// killed lists the processes to kill, in order.
var killed = []string{"collector", "consumer", "clickhouse", "postgres", "broker", "query", "crud"}

// plan returns the steps and their times. Long times without a restart come after the first kills,
// after the restore, and at the end.
func plan(duration time.Duration) (steps []string, times []time.Duration) {
	at := func(share float64, name string) {
		steps, times = append(steps, name), append(times, time.Duration(share*float64(duration)))
	}
	killEach := func(from float64) {
		for i, kind := range killed {
			at(from+float64(i)/100, "kill -9 "+kind)
		}
	}
	killEach(0.20)
	at(0.42, backup)
	at(0.45, backup)
	at(0.47, eraseOne)
	at(0.50, restoreBoth)
	killEach(0.68)
	return steps, times
}

// Run makes the run and prints its report.
func (c *SoakCommand) Run(ctx context.Context) error {
	if c.Seed == 0 {
		c.Seed = rand.Uint64N(1 << 32)
	}
	if err := os.MkdirAll(c.Out, 0o755); err != nil { //nolint:gosec // samples are no secret
		return err
	}
	return inDirectory(c.Dir, c.Seed, func(dir string) (bool, error) {
		r, err := c.run(ctx, dir, slog.New(slog.NewTextHandler(os.Stderr, nil)))
		if r == nil {
			return false, err
		}
		return r.ok(), errors.Join(err, c.publish(ctx, r))
	})
}

// soaked is the outcome of a soak.
type soaked struct {
	*report
	samples samples
	calms   []calm
	growing []string // a sentence for each value that is not flat, or that was not measured
}

// judge looks for growth in the samples.
func (r *soaked) judge(warmUp time.Duration) {
	r.calms = r.samples.calms(warmUp)
	r.growing = append(r.samples.unmeasured(r.calms, warmUp), flat(r.calms)...)
}

func (r *soaked) ok() bool { return r.report.ok() && len(r.growing) == 0 }

func (c *SoakCommand) run(ctx context.Context, dir string, log *slog.Logger) (*soaked, error) {
	programs := filepath.Join(dir, "bin")
	if err := compile(ctx, nil, programs, "lodestone", "lodestone-clickhouse"); err != nil {
		return nil, err
	}
	steps, times := plan(c.Duration)
	if len(c.Steps) > 0 {
		steps, times = c.Steps, slices.Repeat([]time.Duration{0}, len(c.Steps))
	}
	const limit = 15 * time.Minute // also of what came in during a restore
	r := &soaked{}
	done, err := chaos(ctx, options{
		Seed: c.Seed, Rate: c.Rate, Senders: c.Senders, Brokers: c.Brokers, Soak: true, Batch: c.Batch,
		Recover: limit, Pause: time.Second,
		Steps: steps, At: append(times, c.Duration), Dir: dir, Programs: programs, Log: log,
		Watch: func(ctx context.Context, w *world) { r.samples.watch(ctx, c.Sample, w) },
	})
	if done == nil {
		return nil, err
	}
	r.report = done
	r.judge(cmp.Or(c.WarmUp, c.Duration/20))
	return r, err
}

// publish prints the report and writes the samples.
func (c *SoakCommand) publish(ctx context.Context, r *soaked) error {
	if err := c.write(ctx, os.Stdout, r); err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(c.Out, "soak.csv"))
	if err != nil {
		return err
	}
	return errors.Join(r.samples.write(file), file.Close())
}

// write prints markdown for docs/soak.md.
func (c *SoakCommand) write(ctx context.Context, out io.Writer, r *soaked) error {
	version, err := overlay.Version(ctx)
	if err != nil {
		return err
	}
	machine, err := bench.ThisMachine(version)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s on %s: `make soak SOAK=\"--duration %v --rate %d --events-per-request %d --senders %d --brokers %d --seed %d\"`.\n\n",
		time.Now().UTC().Format("2 January 2006"), machine, c.Duration, c.Rate, c.Batch, c.Senders, c.Brokers, c.Seed)
	fmt.Fprintf(out, "Events were sent for %v, of which %.0f were acknowledged in a second on average.\n\n",
		r.Loaded.Round(time.Second), float64(r.Acked)/r.Loaded.Seconds())
	if err := r.write(out); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s\n", table(r.calms))
	for _, sentence := range r.growing {
		fmt.Fprintf(out, "- **not flat**: %s\n", sentence)
	}
	if len(r.growing) == 0 {
		fmt.Fprintf(out, "Memory, goroutines and descriptors are flat in %d calm times of the processes.\n", len(r.calms))
	}
	return nil
}
