package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"lodestone/pkg/auth"
	"lodestone/pkg/config"
	"lodestone/pkg/postgres"
)

// endToEndOptions are the settings of this suite alone.
type endToEndOptions struct {
	Rate  int           `name:"end-to-end-rate" default:"20000" help:"Events a second that are sent, whether or not earlier ones are answered."`
	Batch int           `name:"end-to-end-batch" default:"50" help:"Events in one request."`
	Time  time.Duration `name:"end-to-end-time" default:"10s" help:"How long each run is measured."`
}

// Validate returns every problem of the settings.
func (o endToEndOptions) Validate() error {
	var errs []error
	errs = append(errs, numberWithin("--end-to-end-batch", o.Batch, 1, 500))
	if o.Rate < o.Batch || o.Rate > 10_000_000 {
		errs = append(errs, config.Invalid("--end-to-end-rate", "is out of range", "give a number from --end-to-end-batch to 10000000"))
	}
	if o.Time < time.Second || o.Time > time.Hour {
		errs = append(errs, config.Invalid("--end-to-end-time", "is out of range", "give a time from 1s to 1h"))
	}
	return errors.Join(errs...)
}

func (o endToEndOptions) suite() suite {
	return suite{name: "end-to-end", kafka: true, cases: endToEndCases, run: o.measure}
}

func endToEndCase(kafka string) string { return "end-to-end/" + kafka }

func endToEndCases(kafka string) []string { return []string{endToEndCase(kafka)} }

const (
	endToEndConnections = 32
	endToEndWarm        = 5 * time.Second
	collectorP99        = "collector p99 ms"
)

// pipeline is all processes between a sender and an answer.
type pipeline struct {
	processes []*Process
	collector string // address
	probes    *probes
	o         endToEndOptions
	b         *Bench
	e         *Engines
}

// measure puts the whole pipeline under a steady load, and sends single events through it beside.
func (o endToEndOptions) measure(ctx context.Context, b *Bench, e *Engines) (err error) {
	p := &pipeline{o: o, b: b, e: e}
	if b.Quick {
		p.o.Time /= 4
	}
	defer func() {
		for _, process := range p.processes {
			err = errors.Join(err, process.Stop(context.WithoutCancel(ctx)))
		}
	}()
	if err := p.start(ctx); err != nil {
		return err
	}
	const second = 1000
	return b.Measure(ctx, Case{
		Name:  endToEndCase(e.Kafka),
		Title: fmt.Sprintf("from the acknowledgement of an event until GET /api/v1/analytics has it, while %s events/s are sent, %s Kafka", group(strconv.Itoa(o.Rate)), e.Kafka),
		Sides: []Side{{Name: "pipeline", Run: p.run}},
		Targets: []Target{
			{What: "the events are taken as fast as they are sent", Value: Rate, AtLeast: 0.98 * float64(o.Rate)},
			{What: "p50 ≤ 1 s from acknowledgement to answer", Value: Latency(0.5), AtMost: second},
			{What: "p99 ≤ 2 s from acknowledgement to answer", Value: Latency(0.99), AtMost: 2 * second},
			collectorMemory,
			consumerMemory,
			queryMemory,
			clickhouseMemory,
		},
		Show: []string{Rate, Latency(0.5), Latency(0.9), Latency(0.99), collectorP99,
			CPU("collector"), CPU("kafka"), CPU("consumer"), CPU("clickhouse"), CPU("query"), CPU("postgres"), CPU("client"),
			Peak("collector"), Peak("kafka"), Peak("consumer"), Peak("clickhouse"), Peak("query"), Peak("postgres")},
	})
}

// start starts the processes with ordinary settings, but for the limit of requests: whoever looks for an event
// asks again and again.
func (p *pipeline) start(ctx context.Context) error {
	account, key, err := p.e.makeAccount(ctx)
	if err != nil {
		return err
	}
	if p.collector, err = FreeAddress(); err != nil {
		return err
	}
	for _, one := range [][]string{
		{"collector", "COLLECTOR_LISTEN=" + p.collector, "SPOOL_DIR=" + filepath.Join(p.e.dir, "spool")},
		{"consumer"},
	} {
		process, err := p.b.Lodestone(ctx, p.e, one[0], one[1:]...)
		if err != nil {
			return err
		}
		p.processes = append(p.processes, process)
	}
	process, query, err := p.b.startQuery(ctx, p.e)
	if err != nil {
		return err
	}
	p.processes = append(p.processes, process)
	p.probes = newProbes(p.collector, newListClient(query, key), p.e.Tokens, account)
	return nil
}

// run is one run: the load, and probes once it is steady.
func (p *pipeline) run(ctx context.Context) (Sample, error) {
	m := newMessages(p.b.Seed, p.e.Tokens)
	load := loadOptions{
		address: p.collector, connections: endToEndConnections, rate: float64(p.o.Rate) / float64(p.o.Batch), seed: p.b.Seed,
		request: func(int) request { return m.batch(p.o.Batch) },
	}
	metered := append(p.e.Processes(), Client())
	for _, process := range p.processes {
		metered = append(metered, process.Metered())
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // an error of one ends the other
	var (
		under measured
		seen  *Latencies
		both  errgroup.Group
	)
	both.Go(func() (err error) {
		under, err = putUnderLoad(ctx, load, endToEndWarm, p.o.Time, metered...)
		if err != nil {
			cancel()
		}
		return err
	})
	both.Go(func() (err error) {
		seen, err = p.probes.run(ctx, endToEndWarm, p.o.Time)
		if err != nil {
			cancel()
		}
		return err
	})
	if err := both.Wait(); err != nil {
		return nil, err
	}
	s := under.sample()
	s[collectorP99] = s[Latency(0.99)]
	s.AddLatencies(seen)
	return s, nil
}

// makeAccount makes an account with a key that may do everything.
func (e *Engines) makeAccount(ctx context.Context) (account uuid.UUID, key string, err error) {
	pool, err := postgres.Open(ctx, postgres.Config{URL: e.PostgresURL, MaxConns: 1})
	if err != nil {
		return account, "", err
	}
	defer pool.Close()
	account = uuid.New()
	made := auth.NewKey()
	err = pool.Transaction(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "INSERT INTO accounts (id, name, plan) VALUES ($1, 'bench', 'team')", account)
		if err == nil {
			_, err = tx.Exec(ctx, "INSERT INTO api_keys (id, account_id, name, prefix, hash, scopes) VALUES ($1, $2, 'bench', $3, $4, '{read,write,leads}')",
				uuid.New(), account, made.Prefix, made.Hash[:])
		}
		return err
	})
	if err != nil {
		return account, "", fmt.Errorf("make an account: %w", err)
	}
	return account, made.Text, nil
}
