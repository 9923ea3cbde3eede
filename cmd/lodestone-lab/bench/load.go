package bench

import (
	"context"
	"sync/atomic"
	"time"
)

// loadOptions say what load a server is put under.
type loadOptions struct {
	address     string
	connections int
	// rate is how many requests a second are sent whether or not earlier ones are answered, at random times
	// (open loop); 0: each connection sends its next request when the last one is answered (closed loop).
	rate float64
	seed uint64
	// request makes the request that a connection sends again and again, each time with other event ids.
	request func(connection int) request
}

// request is one HTTP request as it goes over the wire.
type request struct {
	wire   []byte
	ids    []int // where the event ids stand, each of idLength bytes
	events int
}

// counted is what a load counts while it runs; the clients write, whoever measures reads.
type counted struct {
	answers   atomic.Int64
	events    atomic.Int64
	measuring atomic.Bool // latencies are counted
	quit      atomic.Bool
}

// measured is what a load saw.
type measured struct {
	requests, events int64
	took             time.Duration
	latencies        *Latencies
	use              map[string]Use
}

// sample returns the values that every load has.
func (m measured) sample() Sample {
	s := Sample{Rate: float64(m.events) / m.took.Seconds()}
	s.AddLatencies(m.latencies)
	s.AddUse(m.use, m.events)
	return s
}

// putUnderLoad sends requests for a while, first without counting, and returns what it saw. Any answer but
// a 202 that takes every event is an error.
func putUnderLoad(ctx context.Context, o loadOptions, warm, long time.Duration, processes ...Metered) (measured, error) {
	c := &counted{}
	l, err := newClients(o, c)
	if err != nil {
		return measured{}, err
	}
	done := make(chan error, 1)
	go func() { done <- l.run() }()
	m, err := watchLoad(ctx, c, done, warm, long, processes)
	c.quit.Store(true)
	if late := <-done; err == nil {
		err = late
	}
	m.latencies = l.latencies()
	return m, err
}

func watchLoad(ctx context.Context, c *counted, done chan error, warm, long time.Duration, processes []Metered) (m measured, err error) {
	if err := pause(ctx, done, warm); err != nil {
		return m, err
	}
	watch, err := Watch(processes...)
	if err != nil {
		return m, err
	}
	begin := time.Now()
	m.requests, m.events = -c.answers.Load(), -c.events.Load()
	c.measuring.Store(true)
	err = pause(ctx, done, long)
	for m.requests+c.answers.Load() == 0 && err == nil { // a machine so busy that no answer came yet
		err = pause(ctx, done, long)
	}
	c.measuring.Store(false)
	m.requests, m.events = m.requests+c.answers.Load(), m.events+c.events.Load()
	m.took = time.Since(begin)
	use, stopErr := watch.Stop()
	if err == nil {
		err = stopErr
	}
	m.use = use
	return m, err
}

// pause waits, unless the load or ctx ends; what the load ended with is put back for who waits for it.
func pause(ctx context.Context, done chan error, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case err := <-done:
		done <- err
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
