package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/valyala/fasthttp"
	"golang.org/x/sync/errgroup"

	"lodestone/pkg/service"
)

// load is a set of keep-alive connections. Each repeats one request, with new event ids.
type load struct {
	address     string
	connections int
	// rate is how many requests a second are sent whether or not earlier ones are answered, at random
	// times (open loop); 0: each connection sends its next request when the last one is answered
	// (closed loop).
	rate    float64
	seed    uint64
	request func() request
}

// request is one HTTP request as it goes over the wire.
type request struct {
	wire   []byte
	ids    []int // where the event ids stand, each of idLength bytes
	events int
}

// measured is the result of a load.
type measured struct {
	events    int64
	took      time.Duration
	latencies Latencies
	use       map[string]Use
}

// sample returns the values that every load has.
func (m measured) sample() Sample {
	s := Sample{Rate: float64(m.events) / m.took.Seconds()}
	s.AddLatencies(m.latencies)
	s.AddUse(m.use, m.events)
	return s
}

// running is a load while it runs.
type running struct {
	load
	measuring atomic.Bool
	events    atomic.Int64
	due       chan time.Time // open loop: when requests are to be sent
	mu        sync.Mutex
	latencies Latencies
}

// run sends requests for a while, first without counting, and meters processes. Any answer but
// a 202 that takes every event is an error.
func (l load) run(ctx context.Context, warm, long time.Duration, processes ...Metered) (m measured, err error) {
	const queued = 1 << 20
	r := &running{load: l, latencies: NewLatencies()}
	all, ctx := errgroup.WithContext(ctx)
	loop, stop := context.WithCancel(ctx)
	defer stop()
	if l.rate > 0 {
		r.due = make(chan time.Time, queued)
		all.Go(func() error { return r.pace(loop) })
	}
	for range l.connections {
		own := l.request()
		all.Go(func() error { return r.connection(loop, own) })
	}
	all.Go(func() (err error) {
		defer stop()
		if err := service.Sleep(ctx, warm); err != nil {
			return err
		}
		watch, err := Watch(processes...)
		if err != nil {
			return err
		}
		begin := time.Now()
		r.measuring.Store(true)
		err = service.Sleep(ctx, long)
		for r.events.Load() == 0 && err == nil { // a machine so busy that no answer came yet
			err = service.Sleep(ctx, long)
		}
		r.measuring.Store(false)
		m.events, m.took = r.events.Load(), time.Since(begin)
		var stopped error
		m.use, stopped = watch.Stop()
		return errors.Join(err, stopped)
	})
	err = all.Wait()
	m.latencies = r.latencies
	return m, err
}

// pace hands out the times at which requests are due, with exponential gaps.
func (r *running) pace(ctx context.Context) error {
	random := rand.New(rand.NewPCG(r.seed, 1))
	for next := time.Now(); ; next = next.Add(time.Duration(random.ExpFloat64() * float64(time.Second) / r.rate)) {
		if err := service.Sleep(ctx, time.Until(next)); err != nil {
			return nil //nolint:nilerr // the load has ended
		}
		select {
		case r.due <- next:
		default:
			return errors.New("the server is far too slow for the rate")
		}
	}
}

// connection sends requests over one connection until ctx ends.
func (r *running) connection(ctx context.Context, own request) (err error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", r.address)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", r.address, err)
	}
	closeAtEnd := context.AfterFunc(ctx, func() { _ = conn.Close() }) // ends a read that waits
	defer closeAtEnd()
	latencies := NewLatencies()
	defer func() {
		_ = conn.Close()
		r.mu.Lock()
		r.latencies.Merge(latencies.Histogram)
		r.mu.Unlock()
	}()
	var (
		reader = bufio.NewReader(conn)
		answer fasthttp.Response
	)
	for {
		intended := time.Now()
		if r.due != nil {
			select {
			case intended = <-r.due:
			case <-ctx.Done():
			}
		}
		for _, at := range own.ids {
			writeID(own.wire[at : at+idLength]) // another one in every request: a repeat would be dropped further on
		}
		if _, err = conn.Write(own.wire); err == nil {
			err = answer.Read(reader)
		}
		if ctx.Err() != nil {
			return nil
		}
		if err == nil {
			err = accepted(&answer)
		}
		if err != nil {
			return fmt.Errorf("send events: %w", err)
		}
		if r.measuring.Load() {
			latencies.Add(time.Since(intended))
			r.events.Add(int64(own.events))
		}
	}
}

// accepted returns an error for an answer that does not take every event.
func accepted(answer *fasthttp.Response) error {
	if answer.StatusCode() != fasthttp.StatusAccepted || !bytes.Contains(answer.Body(), []byte(`"rejected":[]}`)) {
		return fmt.Errorf("an answer that does not take every event: %d %q", answer.StatusCode(), answer.Body())
	}
	return nil
}

// openLoop calls ask at random times, a mean rate a second, whether or not earlier calls have
// returned, and returns how long each took from the time at which it was due. It is for tens of
// requests a second, and load for thousands.
func openLoop(ctx context.Context, seed uint64, rate float64, requests int,
	ask func(ctx context.Context, number int) error) ([]time.Duration, error) {
	random := rand.New(rand.NewPCG(seed, 2))
	took := make([]time.Duration, requests)
	all, loop := errgroup.WithContext(ctx)
	due := time.Now()
	for number := range requests {
		due = due.Add(time.Duration(random.ExpFloat64() * float64(time.Second) / rate))
		if service.Sleep(loop, time.Until(due)) != nil {
			break
		}
		from := due
		all.Go(func() error {
			err := ask(loop, number)
			took[number] = time.Since(from)
			return err
		})
	}
	return took, errors.Join(all.Wait(), ctx.Err())
}

// latenciesOf counts durations.
func latenciesOf(all []time.Duration) Latencies {
	l := NewLatencies()
	for _, d := range all {
		l.Add(d)
	}
	return l
}

// reply is an answer over HTTP that was read to its end.
type reply struct {
	status int
	body   []byte
	took   time.Duration // from the request until all of it was there
}

// exchange sends a request, with a key and a body in JSON if there are such, and reads the answer.
// As clients do, it asks again when the service is too busy to answer: the wait is part of the
// time.
func exchange(ctx context.Context, via *http.Client, method, address, key string, body []byte) (reply, error) {
	const tries = 5
	begin := time.Now()
	for try := 1; ; try++ {
		r, after, err := exchangeOnce(ctx, via, method, address, key, body)
		r.took = time.Since(begin)
		if err != nil || r.status != http.StatusServiceUnavailable || try == tries {
			return r, err
		}
		if err := service.Sleep(ctx, after); err != nil {
			return r, err
		}
	}
}

func exchangeOnce(ctx context.Context, via *http.Client, method, address, key string, body []byte) (r reply,
	after time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return r, 0, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := via.Do(req)
	if err != nil {
		return r, 0, err
	}
	r.status = resp.StatusCode
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
		after = time.Duration(seconds) * time.Second
	}
	r.body, err = io.ReadAll(resp.Body)
	return r, after, errors.Join(err, resp.Body.Close())
}

// get asks for an address and returns the body of the answer, which must be 200, and how long it
// took.
func get(ctx context.Context, via *http.Client, address, key string) ([]byte, time.Duration, error) {
	r, err := exchange(ctx, via, http.MethodGet, address, key, nil)
	if err == nil && r.status != http.StatusOK {
		err = fmt.Errorf("GET %s: %d %s: %.200s", address, r.status, http.StatusText(r.status), r.body)
	}
	return r.body, r.took, err
}

const (
	lookInterval = 20 * time.Millisecond
	awaitTimeout = 10 * time.Minute
)

// await asks until the answer is yes, or an error.
func await(ctx context.Context, yes func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, awaitTimeout)
	defer cancel()
	ticker := time.NewTicker(lookInterval)
	defer ticker.Stop()
	for {
		if done, err := yes(); done || err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Latencies counts durations up to an hour, with a relative error of one per cent. It is not safe
// for concurrent use: each goroutine has its own, and they are merged.
type Latencies struct{ *hdrhistogram.Histogram }

// NewLatencies returns an empty one.
func NewLatencies() Latencies {
	const digits = 2
	return Latencies{hdrhistogram.New(1, int64(time.Hour), digits)}
}

// Add counts one duration.
func (l Latencies) Add(d time.Duration) {
	_ = l.RecordValue(int64(min(max(d, 0), time.Hour))) // within the bounds, so it cannot fail
}

// AddLatencies adds the percentiles.
func (s Sample) AddLatencies(l Latencies) {
	for _, q := range []float64{0.5, 0.9, 0.99, 0.999} {
		s[Latency(q)] = float64(l.ValueAtPercentile(100*q)) / float64(time.Millisecond)
	}
}
