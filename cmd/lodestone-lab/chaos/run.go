package chaos

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"lodestone/cmd/lodestone-lab/chaos/ledger"
	"lodestone/cmd/lodestone-lab/probe"
)

// options say what to run.
type options struct {
	Seed     uint64
	Duration time.Duration // at least
	Events   int64         // acknowledged, at least
	Faults   int           // injected, at least
	Rate     int           // events a second, 0: as many as are taken
	Senders  int
	Brokers  int  // 1 or 3
	Cluster  bool // see cluster.go
	Copies   bool // see copy.go
	Soak     bool // see operation_fault.go
	Batch    int  // events of each request; 0: requests of different sizes
	NoSpool  bool // the collectors have none
	// names of faults, once each in this order; else the seed decides, until Duration, Events and
	// Faults are reached
	Steps []string
	Only  []string // names of the faults that the seed may choose from; else all
	Pause time.Duration
	// At has the times from the begin of the load at which Steps are injected at the earliest, and the
	// load ends. Else steps follow each other after Pause.
	At []time.Duration
	// Watch is called beside the load.
	Watch    func(ctx context.Context, w *world)
	Recover  time.Duration // everything has to be stored so long after a fault, or the run fails
	Away     time.Duration // how long a copy of the events that is lost stays away
	Dir      string        // for logs, data and the ledger
	Programs string        // directory of lodestone and lodestone-clickhouse
	Log      *slog.Logger
}

// fillsDisks reports whether a fault of the schedule needs a file system of its own.
func (o options) fillsDisks() bool {
	fills := func(name string) bool { return strings.HasPrefix(name, "disk full") }
	if len(o.Steps) > 0 {
		return slices.ContainsFunc(o.Steps, fills)
	}
	return len(o.Only) == 0 || slices.ContainsFunc(o.Only, fills)
}

// happened is one step of the schedule, as it went.
type happened struct {
	Fault   string
	Acked   int64         // events acknowledged from its begin to the next step's
	Took    time.Duration // of the fault itself
	Recover time.Duration // from its end until events were acknowledged again and all in the log by then was stored
	Err     error
}

// errStuck says that the system did not come back by itself.
var errStuck = errors.New("did not recover by itself")

// chaos runs the schedule against a world of its own and checks what is left of it. The error
// says that the run could not be made or that the system got stuck; the findings tell the rest.
func chaos(ctx context.Context, o options) (r *report, err error) {
	begin := time.Now()
	names, known, err := o.faults()
	if err != nil {
		return nil, err
	}
	r = &report{options: o}
	w := newWorld(o)
	defer func() { err = errors.Join(err, w.stop()) }()
	o.Log.Info("starting Kafka, ClickHouse, PostgreSQL and Lodestone", "brokers", o.Brokers, "cluster", o.Cluster,
		"copies", o.Copies, "seed", o.Seed, "dir", o.Dir)
	if err := w.start(ctx); err != nil {
		return nil, err
	}
	book, err := ledger.New(filepath.Join(o.Dir, "ledger.txt"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, book.Close()) }()
	l := &load{links: w.links, landings: w.landings, collectors: w.addresses, ledger: book, rate: o.Rate, batch: o.Batch}
	id := rand.New(rand.NewPCG(o.Seed, uint64(begin.UnixNano())))
	for i := range l.ids.Run {
		l.ids.Run[i] = byte(id.Uint32())
	}
	p, g := &poison{places: map[string]struct{}{}}, &ledger.Gone{}

	sending, stopSending := context.WithCancel(ctx)
	l.start(sending, o.Senders)
	sampling, stopSampling := context.WithCancel(ctx)
	var sampler sync.WaitGroup
	sampler.Go(func() { r.sample(sampling, w) })
	answers := &asked{}
	if o.Copies {
		sampler.Go(func() { answers.askAll(sampling, w, known) })
	}
	if o.Watch != nil {
		sampler.Go(func() { o.Watch(sampling, w) })
	}
	loaded := time.Now()
	err = r.play(ctx, o, &scene{world: w, load: l, poison: p, gone: g, limit: o.Recover, away: o.Away}, known, names)
	stopSending()
	l.wait.Wait()
	r.Loaded = time.Since(loaded)
	r.Acked, _ = book.Counts()
	stopSampling()
	sampler.Wait()
	r.Duration = time.Since(begin)
	r.Asked, r.Broken = answers, append(r.Broken, answers.broken...)
	r.Skewed, r.Refused = l.skewed.Load(), l.refused.Load()
	select {
	case failed := <-l.failed:
		err = errors.Join(err, failed)
	default:
	}
	if err != nil {
		return r, err
	}
	o.Log.Info("the schedule is over; waiting until everything is stored")
	if err := w.drained(ctx, 2*o.Recover); err != nil {
		return r, fmt.Errorf("%w: %w", errStuck, err)
	}
	if r.Findings, err = check(ctx, w, l, p, g); err != nil {
		return r, fmt.Errorf("check: %w", err)
	}
	r.Figures = w.operations.figures
	for _, p := range w.processes() {
		_, surplus := p.Status()
		r.Surplus += surplus
	}
	return r, nil
}

// faults returns the names of the faults to choose from, and all faults that the world can have.
func (o options) faults() (names []string, known map[string]fault, err error) {
	names, known = o.Only, map[string]fault{}
	for _, f := range allFaults() {
		if f.cluster && !o.Cluster && !o.Soak || f.copies && !o.Copies {
			continue
		}
		known[f.name] = f
		if len(o.Only) == 0 && !f.operation && f.name != copyLost {
			names = append(names, f.name)
		}
	}
	for _, name := range slices.Concat(names, o.Steps) {
		if _, ok := known[name]; !ok {
			return nil, nil, fmt.Errorf("there is no fault %q", name)
		}
	}
	return names, known, nil
}

// play goes through the schedule.
func (r *report) play(ctx context.Context, o options, all *scene, known map[string]fault, names []string) error {
	begin := time.Now()
	reached := func(share float64, step int) bool {
		acked, _ := all.load.ledger.Counts()
		return time.Since(begin).Seconds() >= share*o.Duration.Seconds() && float64(acked) >= share*float64(o.Events) &&
			float64(step) > share*float64(o.Faults)
	}
	over := func(step int) bool {
		if len(o.Steps) > 0 {
			return step > len(o.Steps)
		}
		return reached(1, step)
	}
	order := deck(o.Seed, names)
	toLose := o.Copies && len(o.Steps) == 0 && len(o.Only) == 0 // a copy, once, in the middle
	for step := 1; ctx.Err() == nil; step++ {
		random := rand.New(rand.NewPCG(o.Seed, uint64(step)))
		s := *all
		s.rand = random
		pause := o.Pause/2 + time.Duration(random.Int64N(int64(o.Pause)))
		if len(o.At) > 0 {
			pause = time.Until(begin.Add(o.At[step-1]))
		}
		if err := s.hold(ctx, pause); err != nil {
			return err
		}
		if !toLose && over(step) {
			break
		}
		if len(o.Steps) == 0 && (step-1)%len(names) == 0 {
			for i := range names {
				o.Log.Info("scheduled", "seed", o.Seed, "step", step+i, "fault", order(step+i))
			}
		}
		name := order(step)
		if len(o.Steps) > 0 {
			name = o.Steps[step-1]
		}
		if toLose && reached(0.5, step) {
			name, toLose = copyLost, false
		}
		select {
		case err := <-s.load.failed:
			return err
		default:
		}
		if err := r.step(ctx, o, &s, step, known[name]); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// deck deals the faults in rounds: each of them once, in an order that the seed decides.
func deck(seed uint64, names []string) func(step int) string {
	return func(step int) string {
		round := uint64((step - 1) / len(names))
		random := rand.New(rand.NewPCG(seed, 1<<32+round))
		return names[random.Perm(len(names))[(step-1)%len(names)]]
	}
}

func (r *report) step(ctx context.Context, o options, s *scene, step int, f fault) error {
	s.note = func(format string, args ...any) {
		o.Log.Info(fmt.Sprintf(format, args...), "step", step, "fault", f.name)
	}
	s.wrong = func(format string, args ...any) {
		text := fmt.Sprintf("step %d (%s): %s", step, f.name, fmt.Sprintf(format, args...))
		o.Log.Error(text)
		r.Broken = append(r.Broken, text)
	}
	before, _ := s.load.ledger.Counts()
	s.load.step.Store(int64(step))
	h := happened{Fault: f.name}
	s.doing.Store(f.name)
	defer s.doing.Store("")
	begin := time.Now()
	err := f.inject(ctx, s)
	h.Took = time.Since(begin)
	switch {
	case errors.Is(err, errLeftOut):
		h.Err = err
	case err != nil:
		return fmt.Errorf("step %d (%s): %w", step, f.name, err)
	default:
		ended := time.Now()
		if err := s.recovered(ctx, o.Recover); err != nil {
			return fmt.Errorf("step %d (%s): %w: %w", step, f.name, errStuck, err)
		}
		h.Recover = time.Since(ended)
	}
	after, maybe := s.load.ledger.Counts()
	h.Acked = after - before
	r.Steps = append(r.Steps, h)
	o.Log.Info("over", "step", step, "fault", f.name, "recovered_in", h.Recover.Round(time.Millisecond),
		"acked", after, "given_up", maybe)
	return nil
}

// recovered returns when events are acknowledged again and everything up to then is stored.
func (s *scene) recovered(ctx context.Context, within time.Duration) error {
	before, _ := s.load.ledger.Counts()
	for end := time.Now().Add(within); ; {
		if acked, _ := s.load.ledger.Counts(); acked > before {
			return s.drained(ctx, within)
		}
		if time.Now().After(end) {
			return fmt.Errorf("no event was acknowledged in %v", within)
		}
		if err := s.hold(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}

// sample notes the memory of the processes until ctx ends.
func (r *report) sample(ctx context.Context, w *world) {
	r.Memory = map[string]int64{}
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for {
		for name, pid := range w.pids() {
			kind := strings.TrimRight(name, "0123456789")
			r.Memory[kind] = max(r.Memory[kind], int64(probe.Resident(pid)))
		}
		if records, err := w.spooled(ctx); err == nil {
			r.Spooled = max(r.Spooled, records)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
