package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"lodestone/pkg/config"
)

// collectOptions are the settings of this suite alone.
type collectOptions struct {
	Time             time.Duration `name:"collect-time" default:"2s" help:"How long each run of the collector and of its limits is measured; half as long where ratios are judged, and three times as often."`
	BatchConnections int           `name:"collect-batch-connections" default:"128" help:"Connections that send batches of 100 events to the collector."`
}

// Validate returns every problem of the settings.
func (o collectOptions) Validate() error {
	var errs []error
	if o.Time < 100*time.Millisecond || o.Time > time.Hour {
		errs = append(errs, config.Invalid("--collect-time", "is out of range", "give a time from 100ms to 1h"))
	}
	if o.BatchConnections < 1 || o.BatchConnections > 400 { // more events than the producer lets wait
		errs = append(errs, config.Invalid("--collect-batch-connections", "is out of range", "give a number from 1 to 400"))
	}
	return errors.Join(errs...)
}

func (o collectOptions) suite() suite {
	return suite{name: "collect", kafka: true, cases: collectCases, run: o.measure}
}

func collectCases(kafka string) []string {
	names := []string{collectCase(kafka, "one/512"), collectCase(kafka, "batch/100"), collectCase(kafka, "latency")}
	for _, n := range collectConnections(kafka) {
		names = append(names, collectCase(kafka, onesCase(n)))
	}
	return names
}

func collectCase(kafka, rest string) string { return "collect/" + kafka + "/" + rest }

func onesCase(connections int) string { return fmt.Sprintf("one/%d", connections) }

// collectConnections are the numbers of them that a plot shows, besides 512.
func collectConnections(kafka string) []int {
	if kafka != Embedded { // the shape is known by then
		return []int{64, 1024}
	}
	return []int{16, 64, 128, 1024}
}

// The names of the sides.
const (
	system    = "collector"
	ackLimit  = "fasthttp + producer"
	bareLimit = "fasthttp"
)

const batchEvents = 100

// collectBench is the suite while it runs.
type collectBench struct {
	*Bench
	long     time.Duration // of a run
	batchers int           // connections
	engines  *Engines
	servers  map[string]*server
}

type server struct {
	process *Process
	address string
}

func (o collectOptions) measure(ctx context.Context, b *Bench, e *Engines) (err error) {
	c := &collectBench{Bench: b, long: o.Time, batchers: o.BatchConnections, engines: e, servers: map[string]*server{}}
	if b.Quick {
		c.long /= 3
	}
	defer func() { err = errors.Join(err, c.stop(context.WithoutCancel(ctx))) }()
	if err := c.start(ctx); err != nil {
		return err
	}
	for _, measure := range []func(context.Context) error{c.single, c.connections, c.batches, c.latency} {
		if err := measure(ctx); err != nil {
			return err
		}
	}
	return nil
}

// start starts the collector with ordinary settings, which include a spool, and the limits.
func (c *collectBench) start(ctx context.Context) error {
	listen, err := FreeAddress()
	if err != nil {
		return err
	}
	collector, err := c.Lodestone(ctx, c.engines, "collector", "COLLECTOR_LISTEN="+listen, "SPOOL_DIR="+filepath.Join(c.engines.dir, "spool"))
	if err != nil {
		return err
	}
	c.servers[system] = &server{collector, listen}
	for _, limit := range []struct {
		side, process string
		records       int
	}{{ackLimit, "limit-ack", 1}, {ackLimit + " (batch)", "limit-batch", batchEvents}, {bareLimit, "limit-bare", 0}} {
		p, address, err := c.startLimit(ctx, c.engines, limit.process, limit.records)
		if err != nil {
			return err
		}
		c.servers[limit.side] = &server{p, address}
	}
	return nil
}

func (c *collectBench) stop(ctx context.Context) error {
	var errs []error
	for _, s := range c.servers {
		errs = append(errs, s.process.Stop(ctx))
	}
	return errors.Join(errs...)
}

func (c *collectBench) name(rest string) string { return collectCase(c.engines.Kafka, rest) }

func (c *collectBench) title(format string, args ...any) string {
	// One node of Apache Kafka acknowledges before its disk has the records, as it is shipped.
	kept := map[string]string{Embedded: "embedded Kafka, on the disk", Real: "real Kafka"}[c.engines.Kafka]
	return fmt.Sprintf("collector, "+format, args...) + ", " + cmp.Or(kept, c.engines.Kafka+" Kafka")
}

// side is a run of a load on a server.
func (c *collectBench) side(name, server string, load func() loadOptions) Side {
	return Side{Name: name, Run: func(ctx context.Context) (Sample, error) {
		s := c.servers[server]
		o := load()
		o.address = s.address
		metered := s.process.Metered()
		metered.Name = "server"
		m, err := putUnderLoad(ctx, o, c.long/4, c.long, append(c.engines.Processes(), metered, Client())...)
		if err != nil {
			return nil, err
		}
		return m.sample(), nil
	}}
}

var shownOfLoad = []string{Rate, CPU("server"), CPU("kafka"), CPU("client"), Latency(0.5), Latency(0.99), Peak("server")}

// ones is a closed loop of requests of one event each.
func (c *collectBench) ones(connections int) func() loadOptions {
	return func() loadOptions {
		m := newMessages(c.Seed, c.engines.Tokens)
		return loadOptions{connections: connections, seed: c.Seed, request: func(int) request { return m.one() }}
	}
}

func memoryTarget() Target {
	return Target{What: "collector ≤ 100 MiB under full load", Value: Peak("server"), AtMost: 100}
}

// often returns the suite with shorter runs, and how many of them a case has: where memory and caches are shared with other
// machines, their speed changes by half within seconds, so the sides of a pair have to run close to each other,
// and many pairs are what a median can be trusted of.
func (c *collectBench) often() (*collectBench, int) {
	if c.Quick { // its runs are short as they are
		return c, c.Runs
	}
	short := *c
	short.long /= 2
	return &short, 3 * c.Runs
}

// single is one event a request from 512 browsers.
func (c *collectBench) single(ctx context.Context) error {
	c, runs := c.often()
	one := Case{
		Name: c.name("one/512"), Title: c.title("one event a request, acknowledged, 512 keep-alive connections"), Warm: 2, Runs: runs, Show: shownOfLoad,
		Sides: []Side{
			c.side(system, system, c.ones(512)), c.side(ackLimit, ackLimit, c.ones(512)), c.side(bareLimit, bareLimit, c.ones(512)),
		},
		Targets: []Target{
			{What: "≥ 90 % of fasthttp + the same producer", Value: Rate, Against: ackLimit, AtLeast: 0.9},
			memoryTarget(),
		},
		Plot: "connections", X: 512, Line: c.engines.Kafka,
	}
	if c.engines.Kafka == Embedded {
		one.Targets = append(one.Targets, Target{What: "≥ 60 % of a bare fasthttp handler", Value: Rate, Against: bareLimit, AtLeast: 0.6})
	}
	return c.Measure(ctx, one)
}

// connections is the same from fewer and more, for a plot.
func (c *collectBench) connections(ctx context.Context) error {
	for _, n := range collectConnections(c.engines.Kafka) {
		err := c.Measure(ctx, Case{
			Name: c.name(onesCase(n)), Title: c.title("one event a request, acknowledged, %d keep-alive connections", n),
			Runs: min(3, c.Runs), Show: shownOfLoad,
			Sides: []Side{c.side(system, system, c.ones(n)), c.side(ackLimit, ackLimit, c.ones(n))},
			Plot:  "connections", X: float64(n), Line: c.engines.Kafka,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// batches is what servers send for their visitors.
func (c *collectBench) batches(ctx context.Context) error {
	c, runs := c.often()
	connections := c.batchers
	load := func() loadOptions {
		m := newMessages(c.Seed, c.engines.Tokens)
		return loadOptions{connections: connections, seed: c.Seed, request: func(int) request { return m.batch(batchEvents) }}
	}
	batch := Case{
		Name: c.name("batch/100"), Title: c.title("100 events a request, acknowledged, %d keep-alive connections", connections), Warm: 2, Runs: runs,
		Show: shownOfLoad, Sides: []Side{c.side(system, system, load), c.side(ackLimit, ackLimit+" (batch)", load)},
		Targets: []Target{memoryTarget()},
	}
	if c.engines.Kafka == Embedded {
		batch.Targets = append(batch.Targets, Target{What: "≥ 250,000 events/s", Value: Rate, AtLeast: 250_000})
	}
	return c.Measure(ctx, batch)
}

// latency is requests of one event at random times, half as many as the collector takes.
func (c *collectBench) latency(ctx context.Context) error {
	name := c.name("latency")
	if !c.Wanted(name) {
		return nil
	}
	most, err := c.most(ctx)
	if err != nil {
		return err
	}
	load := func() loadOptions {
		o := c.ones(512)()
		o.rate = most / 2
		return o
	}
	return c.Measure(ctx, Case{
		Name: name, Title: c.title("one event a request at half the highest rate, open loop, from the time at which it was to be sent"), Warm: 1, Show: shownOfLoad,
		Sides: []Side{c.side(system, system, load), c.side(ackLimit, ackLimit, load)},
		Targets: []Target{
			{What: "p50 ≤ 3 ms", Value: Latency(0.5), Beside: ackLimit, AtMost: 3},
			{What: "p99 ≤ 15 ms", Value: Latency(0.99), Beside: ackLimit, AtMost: 15},
		},
	})
}

// most returns how many events a second the collector takes, one a request: what the case for it found, or, where it was
// not wanted, the median of a few runs after a first one, in which the engines are cold.
func (c *collectBench) most(ctx context.Context) (float64, error) {
	if r := c.report.Result(c.name("one/512")); r != nil {
		rate, _ := r.Sides[0].Median(Rate)
		return rate, nil
	}
	side := c.side(system, system, c.ones(512))
	found := &SideResult{Name: side.Name}
	for run := -1; run < min(3, c.Runs); run++ {
		s, err := side.Run(ctx)
		if err != nil {
			return 0, err
		}
		if run >= 0 {
			found.Runs = append(found.Runs, s)
		}
	}
	rate, _ := found.Median(Rate)
	return rate, nil
}
