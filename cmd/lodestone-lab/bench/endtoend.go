package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"lodestone/cmd/lodestone-lab/probe"
	"lodestone/pkg/event"
	"lodestone/pkg/service"
)

// endToEndOptions are the settings of this suite alone.
type endToEndOptions struct {
	Rate  int           `name:"end-to-end-rate" default:"20000" help:"Events a second that are sent, whether or not earlier ones are answered."`
	Batch int           `name:"end-to-end-batch" default:"50" help:"Events in one request."`
	Time  time.Duration `name:"end-to-end-time" default:"10s" help:"How long each run is measured."`

	Partitions int32 `name:"end-to-end-partitions" help:"Partitions of each topic; 0 for as many as by default."`
}

func (o endToEndOptions) suite() suite {
	return suite{name: "end-to-end", kafka: true, cases: []string{endToEndCase}, run: o.measure}
}

const (
	endToEndCase        = "end-to-end/" + anyKafka
	endToEndConnections = 32
	endToEndWarm        = 5 * time.Second
	insertRate          = "inserts/s"
	collectorP99        = "collector p99 ms"
)

// pipeline is all processes between a sender and an answer.
type pipeline struct {
	processes []*Process
	collector string // address
}

// startPipeline starts collector and consumer with ordinary settings.
func (b *Bench) startPipeline(ctx context.Context, e *Engines) (p *pipeline, err error) {
	p = &pipeline{}
	if p.collector, err = probe.FreeAddress(); err != nil {
		return nil, err
	}
	for _, one := range [][]string{
		{"collector", "COLLECTOR_LISTEN=" + p.collector, "SPOOL_DIR=" + filepath.Join(e.dir, "spool")},
		{"consumer", "CONSUMER_GROUP=bench-" + uuid.NewString()},
	} {
		process, err := b.Lodestone(ctx, e, one[0], one[1:]...)
		if err != nil {
			return nil, errors.Join(err, p.stop(ctx))
		}
		p.processes = append(p.processes, process)
	}
	return p, nil
}

func (p *pipeline) stop(ctx context.Context) (err error) {
	for _, process := range p.processes {
		err = errors.Join(err, process.Stop(context.WithoutCancel(ctx)))
	}
	return err
}

// inserts returns how many inserts the consumer makes a second, after a while.
func (p *pipeline) inserts(ctx context.Context, after, long time.Duration) (float64, error) {
	consumer := p.processes[1].Admin
	var counts [2]int64
	for i, wait := range []time.Duration{after, long} {
		if err := service.Sleep(ctx, wait); err != nil {
			return 0, err
		}
		var err error
		if counts[i], err = probe.Metric(ctx, consumer, "lodestone_consumer_insert_seconds_count"); err != nil {
			return 0, fmt.Errorf("count inserts: %w", err)
		}
	}
	return float64(counts[1]-counts[0]) / long.Seconds(), nil
}

func (p *pipeline) metered(more ...Metered) []Metered {
	for _, process := range p.processes {
		more = append(more, process.Metered())
	}
	return more
}

// measure puts the pipeline and the query service under a steady load, and sends single events
// through it beside.
func (o endToEndOptions) measure(ctx context.Context, b *Bench, e *Engines) (err error) {
	long := o.Time
	if b.Quick {
		long /= 4
	}
	if o.Partitions > 0 {
		if err := e.makeTopics(ctx, b, o.Partitions); err != nil {
			return err
		}
	}
	p, err := b.startPipeline(ctx, e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop(ctx)) }()
	account := uuid.New()
	key, err := e.addAccount(ctx, account)
	if err != nil {
		return err
	}
	query, base, err := b.startQuery(ctx, e)
	if err != nil {
		return err
	}
	p.processes = append(p.processes, query)
	run := func(ctx context.Context) (Sample, error) {
		m := newMessages(b.Seed, e.Tokens)
		l := load{
			address: p.collector, connections: endToEndConnections, rate: float64(o.Rate) / float64(o.Batch), seed: b.Seed,
			request: func() request { return m.batch(o.Batch) },
		}
		probes := &probes{collector: "http://" + p.collector + "/v1/events", base: base, key: key,
			messages: m, account: account}
		both, ctx := errgroup.WithContext(ctx) // an error of one ends the other
		var under measured
		both.Go(func() (err error) {
			under, err = l.run(ctx, endToEndWarm, long, p.metered(append(e.Processes(), Client())...)...)
			return err
		})
		both.Go(func() error { return probes.run(ctx, endToEndWarm, long) })
		var inserts float64
		both.Go(func() (err error) {
			inserts, err = p.inserts(ctx, endToEndWarm, long)
			return err
		})
		if err := both.Wait(); err != nil {
			return nil, err
		}
		s := under.sample()
		s[collectorP99], s[insertRate] = s[Latency(0.99)], inserts
		s.AddLatencies(latenciesOf(probes.took))
		return s, nil
	}
	return b.Measure(ctx, Case{
		Name:  e.on(endToEndCase),
		Title: fmt.Sprintf("from the acknowledgement of an event until GET /api/v1/analytics has it, while %s events/s are sent", number(float64(o.Rate))),
		Sides: []Side{{Name: "pipeline", Run: run}},
	})
}

// probes are single events that are followed: each is sent as a reader's browser would send it, and
// looked for in the list of a lead magnet that a page of them is of: events show out of order, so a
// list of all would hide those that show late.
type probes struct {
	collector, base, key string
	messages             *messages
	account              uuid.UUID

	mu      sync.Mutex
	pending map[uuid.UUID]pendingProbe
	took    []time.Duration
}

// pendingProbe is a probe that was in no answer yet.
type pendingProbe struct {
	magnet       uuid.UUID
	acknowledged time.Time // zero: not yet
}

const (
	// probeInterval is the time between two probes, and between two looks. What is seen was there for
	// up to that long already: the latencies have it in them.
	probeInterval = 50 * time.Millisecond
	probePage     = 100 // of a lead magnet: the most that an answer has
	probeTimeout  = 30 * time.Second
)

// run sends probes for a while and waits until all of them were in an answer.
func (p *probes) run(ctx context.Context, after, long time.Duration) error {
	p.pending = map[uuid.UUID]pendingProbe{}
	if err := service.Sleep(ctx, after); err != nil {
		return err
	}
	all, ctx := errgroup.WithContext(ctx)
	end := time.Now().Add(long)
	all.Go(func() error {
		magnet := uuid.New()
		for sent := 1; time.Now().Before(end); sent++ {
			of := magnet
			all.Go(func() error { return p.send(ctx, of) })
			if sent%probePage == 0 {
				magnet = uuid.New()
			}
			if err := service.Sleep(ctx, probeInterval); err != nil {
				return err
			}
		}
		return nil
	})
	all.Go(func() error {
		for {
			left, err := p.look(ctx)
			switch {
			case err != nil:
				return err
			case left == 0 && time.Now().After(end):
				return nil
			case time.Now().After(end.Add(probeTimeout)):
				return fmt.Errorf("%d probes did not appear within %v", left, probeTimeout)
			}
			if err := service.Sleep(ctx, probeInterval); err != nil {
				return err
			}
		}
	})
	return all.Wait()
}

// send sends one probe of a lead magnet and notes its acknowledgement.
func (p *probes) send(ctx context.Context, magnet uuid.UUID) error {
	e := event.Event{
		AccountID: p.account, LeadMagnetID: magnet, AccessLinkID: uuid.New(), SessionID: uuid.New(), EventID: uuid.New(),
		MagnetVersion: 1, Type: event.PageViewed, Page: 1, DurationMS: 1000,
	}
	p.mu.Lock()
	p.pending[e.EventID] = pendingProbe{magnet: magnet}
	p.mu.Unlock()
	r, err := exchange(ctx, http.DefaultClient, http.MethodPost, p.collector, "",
		p.messages.appendEvent(nil, &e, time.Now()))
	if err != nil || r.status != http.StatusAccepted {
		return errors.Join(err, fmt.Errorf("send a probe: %d: %s", r.status, r.body))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, missing := p.pending[e.EventID]; missing {
		p.pending[e.EventID] = pendingProbe{magnet, time.Now()}
	} else {
		p.took = append(p.took, 0) // seen before its acknowledgement arrived
	}
	return nil
}

// look asks for the probes that are missing, notes those that it sees for the first time, and
// returns how many were sent and not seen.
func (p *probes) look(ctx context.Context) (left int, err error) {
	p.mu.Lock()
	magnets := map[uuid.UUID]bool{}
	for _, missing := range p.pending {
		magnets[missing.magnet] = true
	}
	p.mu.Unlock()
	for magnet := range magnets {
		if err := p.lookFor(ctx, magnet); err != nil {
			return 0, fmt.Errorf("look for probes: %w", err)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.pending), nil
}

// lookFor asks for the probes of a lead magnet.
func (p *probes) lookFor(ctx context.Context, magnet uuid.UUID) error {
	body, _, err := get(ctx, http.DefaultClient, fmt.Sprintf("%s?lead_magnet_id=%s&per_page=%d",
		p.base, magnet, probePage), p.key)
	if err != nil {
		return err
	}
	var answer listAnswer
	if err := json.Unmarshal(body, &answer); err != nil {
		return err
	}
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, item := range answer.Data {
		if probe, sent := p.pending[item.ID]; sent {
			delete(p.pending, item.ID)
			if !probe.acknowledged.IsZero() {
				p.took = append(p.took, now.Sub(probe.acknowledged))
			}
		}
	}
	return nil
}
