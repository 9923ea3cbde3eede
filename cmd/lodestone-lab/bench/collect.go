package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/valyala/fasthttp"

	"lodestone/cmd/lodestone-lab/probe"
	"lodestone/ingest/producer"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
)

// collectOptions are the settings of this suite alone.
type collectOptions struct {
	Time time.Duration `name:"collect-time" default:"2s" help:"How long each run of the collector and of its limits is measured; half as long where sides are compared, and three times as often."`
}

// The cases of the suite.
const (
	singleCase       = "collect/" + anyKafka + "/one/512"
	batchCase        = "collect/" + anyKafka + "/batch/100"
	ackLatencyCase   = "collect/" + anyKafka + "/latency"
	batchEvents      = 100
	singleConnection = 512
	batchConnections = 128
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
	listen, err := probe.FreeAddress()
	if err != nil {
		return err
	}
	collector, err := c.Lodestone(ctx, c.engines, "collector", "COLLECTOR_LISTEN="+listen,
		"SPOOL_DIR="+filepath.Join(c.engines.dir, "spool"))
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

// often is how long runs are where sides are compared, and how many a case has: where memory and
// caches are shared with other machines, their speed changes by half within seconds, so the sides
// of a pair have to run close to each other, and only the median of many pairs can be trusted.
func (c *collectBench) often() (long time.Duration, runs int) {
	if c.Quick { // its runs are short as they are
		return c.options.Time, c.Runs
	}
	return c.options.Time / 2, 3 * c.Runs
}

// ones is a closed loop of requests of one event each.
func (c *collectBench) ones() load {
	m := newMessages(c.Seed, c.engines.Tokens)
	return load{connections: singleConnection, request: m.one}
}

// single is one event a request from 512 browsers.
func (c *collectBench) single(ctx context.Context) error {
	long, runs := c.often()
	return c.Measure(ctx, Case{
		Name: c.engines.on(singleCase), Title: "collector, one event a request, acknowledged, 512 keep-alive connections",
		Warm: 2, Runs: runs,
		Sides: []Side{
			c.side(system, system, long, c.ones), c.side(ackLimit, ackLimit, long, c.ones),
			c.side(bareLimit, bareLimit, long, c.ones),
		},
	})
}

// batches measures requests with 100 events, as servers send them for their visitors.
func (c *collectBench) batches(ctx context.Context) error {
	long, runs := c.often()
	batches := func() load {
		m := newMessages(c.Seed, c.engines.Tokens)
		return load{connections: batchConnections, request: func() request { return m.batch(batchEvents) }}
	}
	return c.Measure(ctx, Case{
		Name:  c.engines.on(batchCase),
		Title: fmt.Sprintf("collector, 100 events a request, acknowledged, %d keep-alive connections", batchConnections),
		Warm:  2, Runs: runs,
		Sides: []Side{c.side(system, system, long, batches), c.side(ackLimit, ackLimit+" (batch)", long, batches)},
	})
}

// latency is requests of one event at random times, half as many as the collector takes.
func (c *collectBench) latency(ctx context.Context) error {
	name := c.engines.on(ackLatencyCase)
	if !c.Wanted(name) {
		return nil
	}
	var highest float64 // events a second, of what was found before, or of a run
	if r := c.results[c.engines.on(singleCase)]; r != nil {
		rates, _ := r.Sides[0].values(Rate)
		highest = medianOf(rates)
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
		Name: name, Title: "collector, one event a request at half the highest rate, open loop, from the time at which it was to be sent", Warm: 1,
		Sides: []Side{c.side(system, system, c.options.Time, half), c.side(ackLimit, ackLimit, c.options.Time, half)},
	})
}

// limitCommand is a server that does only what has to be done: it reads the request, and answers
// like the collector, with --records only when Kafka has acknowledged so many records of an event's
// size. It reads no JSON, verifies no token, hashes and encodes nothing.
type limitCommand struct {
	Listen   string          `name:"limit-listen" required:"" help:"Address to listen on."`
	Records  int             `name:"limit-records" help:"Records to write for each request; 0: none."`
	Seed     uint64          `name:"limit-seed" default:"1" help:"What the records are drawn from."`
	Producer producer.Config `embed:""`
	Kafka    kafka.Config    `embed:""`
}

// Run serves until ctx ends.
func (c *limitCommand) Run(ctx context.Context) (err error) {
	handler := func(ctx *fasthttp.RequestCtx) { answerLikeTheCollector(ctx, 1) }
	if c.Records > 0 {
		p, err := startProducer(ctx, c.Producer, c.Kafka)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, p.Stop(context.WithoutCancel(ctx))) }()
		handler = waitForKafka(p, newRecords(c.Seed), c.Records)
	}
	server := &fasthttp.Server{Handler: handler, NoDefaultServerHeader: true,
		NoDefaultContentType: true, CloseOnShutdown: true}
	done := make(chan error, 1)
	go func() { done <- server.ListenAndServe(c.Listen) }()
	select {
	case err = <-done:
	case <-ctx.Done():
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		err = server.ShutdownWithContext(bounded)
	}
	return err
}

// waitForKafka returns a handler that waits as the collector does, for as long.
func waitForKafka(p *producer.Producer, r *records, n int) fasthttp.RequestHandler {
	const timeout = 5 * time.Second
	parcels := sync.Pool{New: func() any { return r.parcel(n) }}
	return func(ctx *fasthttp.RequestCtx) {
		bounded, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		own := parcels.Get().(*parcel)
		defer parcels.Put(own)
		if err := p.Write(bounded, own.renew()); err != nil {
			ctx.Error(err.Error(), fasthttp.StatusServiceUnavailable)
			return
		}
		answerLikeTheCollector(ctx, n)
	}
}

// answerLikeTheCollector answers with the same headers and body.
func answerLikeTheCollector(ctx *fasthttp.RequestCtx, events int) {
	ctx.SetStatusCode(fasthttp.StatusAccepted)
	h := &ctx.Response.Header
	h.SetContentType("application/json")
	h.Set("X-Request-Id", "0123456789abcdef0123456789abcdef")
	h.Set(fasthttp.HeaderAccessControlAllowOrigin, "*")
	h.Set(fasthttp.HeaderAccessControlExposeHeaders, "X-Request-Id, Retry-After")
	body := append(make([]byte, 0, 64), `{"accepted":`...)
	body = strconv.AppendInt(body, int64(events), 10)
	ctx.SetBody(append(body, `,"rejected":[]}`+"\n"...))
}

// records makes records of realistic events. It is safe for concurrent use.
type records struct {
	mu       sync.Mutex
	messages *messages
}

func newRecords(seed uint64) *records { return &records{messages: newMessages(seed, nil)} }

// parcel is records that one writer writes again and again, each time with other event ids.
type parcel struct {
	records []producer.Record
	ids     [][]byte // where the event ids stand
}

// parcel returns n records.
func (r *records) parcel(n int) *parcel {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &parcel{}
	var e event.Event
	for range n {
		r.messages.next(&e)
		e.ReceivedAt = time.Now().UnixMilli()
		e.CreatedAt = e.ReceivedAt - 200
		value := e.Append(nil)
		id := bytes.Index(value, e.EventID[:])
		p.ids = append(p.ids, value[id:id+len(e.EventID)])
		p.records = append(p.records, producer.Record{Topic: event.Topic, Key: bytes.Clone(e.AccessLinkID[:]), Value: value})
	}
	return p
}

// renew returns the records with new ids.
func (p *parcel) renew() []producer.Record {
	for _, at := range p.ids {
		id := newID()
		copy(at, id[:])
	}
	return p.records
}

// startLimit starts a limit's server. records says how many records it writes a request; 0: none.
func (b *Bench) startLimit(ctx context.Context, e *Engines, name string, records int) (*Process, string, error) {
	address, err := probe.FreeAddress()
	if err != nil {
		return nil, "", err
	}
	p, err := b.Start(ctx, name, b.self, e.Environment(),
		func(ctx context.Context) error { return probe.Listens(ctx, address) },
		"bench", "limit", "--limit-listen="+address, fmt.Sprintf("--limit-records=%d", records),
		fmt.Sprintf("--limit-seed=%d", b.Seed))
	return p, address, err
}

// startProducer starts the producer of events as the collector has it. Whoever calls it stops it.
func startProducer(ctx context.Context, c producer.Config, k kafka.Config) (*producer.Producer, error) {
	log := newLog(os.Stderr)
	p, err := producer.New(c, producer.Deps{
		Kafka: k.Options(log), Topics: []string{event.Topic}, Log: log, Registerer: prometheus.NewRegistry(),
	})
	if err != nil {
		return nil, err
	}
	return p, p.Start(ctx)
}
