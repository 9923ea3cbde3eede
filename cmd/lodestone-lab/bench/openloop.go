package bench

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"lodestone/pkg/service"
)

// openLoop is how requests come that wait for no answer: at random times (Poisson), several under way at once if they overlap. It
// is for those of which there are tens a second; putUnderLoad is for thousands.
type openLoop struct {
	rate     float64 // mean, a second
	requests int
	seed     uint64
}

// openLoopIdle is how many connections a client of such a load keeps.
const openLoopIdle = 64

// dues returns when each request is due, counted from the beginning.
func (o openLoop) dues() []time.Duration {
	random := rand.New(rand.NewPCG(o.seed, 2))
	all := make([]time.Duration, o.requests)
	at := time.Duration(0)
	for i := range all {
		at += time.Duration(random.ExpFloat64() * float64(time.Second) / o.rate)
		all[i] = at
	}
	return all
}

// answer is that to a request of an open loop, and how long it took from the time at which the request was due.
type answer struct {
	number int
	took   time.Duration
}

// run calls ask with the number of each request, and returns when all are answered: the answers as they came, and the errors.
func (o openLoop) run(ctx context.Context, ask func(ctx context.Context, number int) error) (answers []answer, failures []error, err error) {
	var (
		mu  sync.Mutex
		all sync.WaitGroup
	)
	defer all.Wait()
	begin := time.Now()
	for number, after := range o.dues() {
		due := begin.Add(after)
		if wait := time.Until(due); wait > 0 {
			if err := service.Sleep(ctx, wait); err != nil {
				return nil, nil, err
			}
		}
		all.Go(func() {
			err := ask(ctx, number)
			took := time.Since(due)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failures = append(failures, err)
				return
			}
			answers = append(answers, answer{number, took})
		})
	}
	all.Wait()
	return answers, failures, ctx.Err()
}

// runAll is run where every request has to be answered: it returns their errors as one.
func (o openLoop) runAll(ctx context.Context, ask func(ctx context.Context, number int) error) ([]answer, error) {
	answers, failures, err := o.run(ctx, ask)
	return answers, errors.Join(append(failures, err)...)
}

func latenciesOf(answers []answer) *Latencies {
	var all Latencies
	for _, a := range answers {
		all.Add(a.took)
	}
	return &all
}
