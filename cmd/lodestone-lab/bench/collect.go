package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// collectOptions are the settings of this suite alone.
type collectOptions struct {
	Time             time.Duration `name:"collect-time" default:"2s" help:"How long each run of the collector and of its limits is measured; half as long where ratios are judged, and three times as often."`
	BatchConnections int           `name:"collect-batch-connections" default:"128" help:"Connections that send batches of 100 events to the collector."`
}

// The cases of the suite.
const (
	singleCase       = "collect/" + anyKafka + "/one/512"
	batchCase        = "collect/" + anyKafka + "/batch/100"
	ackLatencyCase   = "collect/" + anyKafka + "/latency"
	batchEvents      = 100
	singleConnection = 512
)

func (o collectOptions) suite() suite {
	return suite{name: "collect", kafka: true, cases: []string{singleCase, batchCase, ackLatencyCase}, run: o.measure}
}

// The names of the sides.
const (
	system    = "collector"
	ackLimit  = "fasthttp + producer"
	bareLimit = "fasthttp"
)

// collectBench is the suite while it runs.
type collectBench struct {
	*Bench
	options collectOptions
	engines *Engines
	servers map[string]server
}

type server struct {
	process *Process
	address string
}

func (o collectOptions) measure(ctx context.Context, b *Bench, e *Engines) (err error) {
	c := &collectBench{Bench: b, options: o, engines: e, servers: map[string]server{}}
	if b.Quick {
		c.options.Time /= 3
	}
	defer func() {
		for _, s := range c.servers {
			err = errors.Join(err, s.process.Stop(context.WithoutCancel(ctx)))
		}
	}()
	if err := c.start(ctx); err != nil {
		return err
	}
	return errors.Join(c.single(ctx), c.batches(ctx), c.latency(ctx))
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
	c.servers[system] = server{collector, listen}
	for _, limit := range []struct {
		side, process string
		records       int
	}{{ackLimit, "limit-ack", 1}, {ackLimit + " (batch)", "limit-batch", batchEvents}, {bareLimit, "limit-bare", 0}} {
		p, address, err := c.startLimit(ctx, c.engines, limit.process, limit.records)
		if err != nil {
			return err
		}
		c.servers[limit.side] = server{p, address}
	}
	return nil
}

// side is a run of a load on a server.
func (c *collectBench) side(name, server string, long time.Duration, l func() load) Side {
	return Side{Name: name, Run: func(ctx context.Context) (Sample, error) {
		s, l := c.servers[server], l()
		l.address, l.seed = s.address, c.Seed
		metered := s.process.Metered()
		metered.Name = "server"
		m, err := l.run(ctx, long/4, long, append(c.engines.Processes(), metered, Client())...)
		if err != nil {
			return nil, err
		}
		return m.sample(), nil
	}}
}

// often is how long runs are where ratios are judged, and how many a case has: where memory and caches are shared with other
// machines, their speed changes by half within seconds, so the sides of a pair have to run close to each other,
// and only the median of many pairs can be trusted.
func (c *collectBench) often() (long time.Duration, runs int) {
	if c.Quick { // its runs are short as they are
		return c.options.Time, c.Runs
	}
	return c.options.Time / 2, 3 * c.Runs
}

var (
	shownOfLoad    = []string{Rate, CPU("server"), CPU("kafka"), CPU("client"), Latency(0.5), Latency(0.99), Peak("server")}
	fullLoadMemory = Target{What: "collector ≤ 100 MiB under full load", Value: Peak("server"), Max: 100}
)

// ones is a closed loop of requests of one event each.
func (c *collectBench) ones() load {
	m := newMessages(c.Seed, c.engines.Tokens)
	return load{connections: singleConnection, request: m.one}
}

// single is one event a request from 512 browsers.
func (c *collectBench) single(ctx context.Context) error {
	long, runs := c.often()
	one := Case{
		Name: c.engines.on(singleCase), Title: "collector, one event a request, acknowledged, 512 keep-alive connections", Warm: 2, Runs: runs, Show: shownOfLoad,
		Sides: []Side{
			c.side(system, system, long, c.ones), c.side(ackLimit, ackLimit, long, c.ones), c.side(bareLimit, bareLimit, long, c.ones),
		},
		Targets: []Target{{What: "≥ 90 % of fasthttp + the same producer", Value: Rate, Against: ackLimit, Min: 0.9}, fullLoadMemory},
	}
	if c.engines.Kafka == Embedded {
		one.Targets = append(one.Targets, Target{What: "≥ 60 % of a bare fasthttp handler", Value: Rate, Against: bareLimit, Min: 0.6})
	}
	return c.Measure(ctx, one)
}

// batches is what servers send for their visitors.
func (c *collectBench) batches(ctx context.Context) error {
	long, runs := c.often()
	batches := func() load {
		m := newMessages(c.Seed, c.engines.Tokens)
		return load{connections: c.options.BatchConnections, request: func() request { return m.batch(batchEvents) }}
	}
	batch := Case{
		Name: c.engines.on(batchCase), Title: fmt.Sprintf("collector, 100 events a request, acknowledged, %d keep-alive connections", c.options.BatchConnections),
		Warm: 2, Runs: runs, Show: shownOfLoad, Targets: []Target{fullLoadMemory},
		Sides: []Side{c.side(system, system, long, batches), c.side(ackLimit, ackLimit+" (batch)", long, batches)},
	}
	if c.engines.Kafka == Embedded {
		batch.Targets = append(batch.Targets, Target{What: "≥ 250,000 events/s", Value: Rate, Min: 250_000})
	}
	return c.Measure(ctx, batch)
}

// latency is requests of one event at random times, half as many as the collector takes.
func (c *collectBench) latency(ctx context.Context) error {
	name := c.engines.on(ackLatencyCase)
	if !c.Wanted(name) {
		return nil
	}
	var highest float64 // events a second, of what was found before, or of a run
	if r := c.report.Result(c.engines.on(singleCase)); r != nil {
		rates, _ := r.Sides[0].values(Rate)
		highest = median(rates)
	} else {
		s, err := c.side(system, system, 2*c.options.Time, c.ones).Run(ctx)
		if err != nil {
			return err
		}
		highest = s[Rate]
	}
	half := func() load {
		l := c.ones()
		l.rate = highest / 2
		return l
	}
	return c.Measure(ctx, Case{
		Name: name, Title: "collector, one event a request at half the highest rate, open loop, from the time at which it was to be sent", Warm: 1, Show: shownOfLoad,
		Sides: []Side{c.side(system, system, c.options.Time, half), c.side(ackLimit, ackLimit, c.options.Time, half)},
		Targets: []Target{
			{What: "p50 ≤ 3 ms", Value: Latency(0.5), Max: 3},
			{What: "p99 ≤ 15 ms", Value: Latency(0.99), Max: 15},
		},
	})
}
