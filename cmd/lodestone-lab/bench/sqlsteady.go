package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"lodestone/pkg/service"
)

const (
	steadyEvents      = 4000 // a second, to the collector
	steadyBatch       = 10
	steadyConnections = 16
	steadyAsks        = 10 // lists of events a second: with more of them two processors are full without SQL
	steadyWarm        = 2 * time.Second
	steadyTime        = 20 * time.Second // 200 lists: p99 is the third slowest

	steadyList   = "/api/v1/analytics?per_page=20"
	steadyStored = "stored events/s"
)

// besideSteady measures the same where the machine is not full without SQL: events come at a steady rate, and are stored as they
// come. What queries do to everything else is then what is seen, and not how a full machine is shared.
func (s *sqlBench) besideSteady(ctx context.Context) (err error) {
	if !s.b.Wanted(steadyCase) {
		return nil
	}
	w := steadyWindow{sqlBench: s, long: steadyTime}
	if s.b.Quick {
		w.long /= besideQuick
	}
	if err := s.e.remakeTopics(ctx, s.b, upPartitions); err != nil {
		return err
	}
	if w.door, err = FreeAddress(); err != nil {
		return err
	}
	w.collector, err = s.b.Lodestone(ctx, s.e, "collector", "COLLECTOR_LISTEN="+w.door, "SPOOL_DIR="+filepath.Join(s.e.dir, "steady-spool"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.collector.Stop(context.WithoutCancel(ctx))) }()
	if w.consumer, err = s.b.Lodestone(ctx, s.e, "consumer", "CONSUMER_GROUP=bench-"+uuid.NewString()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.consumer.Stop(context.WithoutCancel(ctx))) }()
	if err := w.get(ctx, steadyList); err != nil { // the first time is no run's
		return err
	}
	return s.measureBeside(ctx, s.analyst, w.run, Case{
		Name: steadyCase,
		Title: fmt.Sprintf("%d events a second through collector and consumer, and GET /analytics, %d a second, both at random times, beside %d people who ask heavy SQL queries one after another, and without",
			steadyEvents, steadyAsks, heavyAtOnce),
		Warm: 1, // so soon after the table was filled, its parts are still merged
		Targets: append([]Target{
			{What: "p50 ≤ 2 × that alone", Value: Latency(0.5), Against: alone, AtMost: 2},
			{What: "p99 ≤ 2.5 × that alone", Value: Latency(0.99), Against: alone, AtMost: 2.5},
			{What: "the events are taken as fast as they are sent", Value: Rate, AtLeast: 0.98 * steadyEvents},
			{What: "and stored as fast as alone (≥ 95 %)", Value: steadyStored, Against: alone, AtLeast: 0.95},
		}, besideMemory...),
		Show: slices.Concat([]string{Rate, steadyStored, collectorP99, Latency(0.5), Latency(0.9), Latency(0.99), failed, running, asked, refused}, besidePeaks),
	})
}

// steadyWindow is a run of this case. The processes stay from run to run.
type steadyWindow struct {
	*sqlBench
	long                time.Duration
	door                string // of the collector
	collector, consumer *Process
}

func (w steadyWindow) run(ctx context.Context, team *analysts) (sample Sample, err error) {
	m := &messages{generator: w.events, tokens: w.e.Tokens} // of the accounts that are stored, so that the list changes
	load := loadOptions{
		address: w.door, connections: steadyConnections, rate: steadyEvents / steadyBatch, seed: w.b.Seed,
		request: func(int) request { return m.batch(steadyBatch) },
	}
	team.start(ctx)
	defer func() {
		team.stop()
		err = errors.Join(err, w.awaitNoQueries(context.WithoutCancel(ctx)))
	}()
	metered := append(w.e.Processes(), w.collector.Metered(), w.consumer.Metered(), w.process.Metered())
	var (
		under    measured
		lists    []answer
		failures []error
		heavies  []uint64
		rows     float64 // a second
		asks     = openLoop{rate: steadyAsks, requests: int(steadyAsks * (steadyWarm + w.long).Seconds()), seed: w.b.Seed}
		dues     = asks.dues()
	)
	all, loadCtx := errgroup.WithContext(ctx)
	all.Go(func() (err error) {
		under, err = putUnderLoad(loadCtx, load, steadyWarm, w.long, metered...)
		return err
	})
	all.Go(func() (err error) {
		lists, failures, err = asks.run(loadCtx, func(ctx context.Context, _ int) error { return w.get(ctx, steadyList) })
		lists = slices.DeleteFunc(lists, func(a answer) bool { return dues[a.number] < steadyWarm || dues[a.number] > steadyWarm+w.long })
		return err
	})
	var answered, refusals int
	all.Go(func() (err error) {
		if err := service.Sleep(loadCtx, steadyWarm); err != nil {
			return err
		}
		answeredBefore, refusedBefore := team.counts()
		rows, heavies, err = w.watch(loadCtx)
		answered, refusals = team.counts()
		answered, refusals = answered-answeredBefore, refusals-refusedBefore
		return err
	})
	if err := all.Wait(); err != nil {
		return nil, err
	}
	took := w.long.Seconds()
	sample = under.sample()
	sample[collectorP99] = sample[Latency(0.99)]
	sample.AddLatencies(withFailures(lists, failures))
	sample[steadyStored], sample[failed], sample[running] = rows, float64(len(failures)), mean(heavies)
	sample[asked], sample[refused] = float64(answered)/took, float64(refusals)/took
	return sample, nil
}

// watch returns, while events are sent, how many rows a second the consumer stored, and how many heavy queries ran at each look.
func (w steadyWindow) watch(ctx context.Context) (rate float64, heavies []uint64, err error) {
	stored := func() (float64, error) { return metric(ctx, w.consumer.Admin, "lodestone_consumer_rows_total") }
	begin := time.Now()
	first, err := stored()
	if err != nil {
		return 0, nil, err
	}
	for time.Since(begin) < w.long {
		heavy, err := w.heavies(ctx)
		if err != nil {
			return 0, nil, err
		}
		heavies = append(heavies, heavy)
		if err := service.Sleep(ctx, lookInterval); err != nil {
			return 0, nil, err
		}
	}
	took := time.Since(begin)
	last, err := stored()
	return (last - first) / took.Seconds(), heavies, err
}
