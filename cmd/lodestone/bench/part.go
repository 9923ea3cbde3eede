package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"lodestone/ingest/collector"
	"lodestone/ingest/producer"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
	"lodestone/pkg/token"
)

// partsCommand measures what the collector does with an event, each part alone in this process and in a
// loop: reading the JSON, verifying the token, encoding the record, and writing it to Kafka. It prints the CPU
// time an event in microseconds as JSON.
//
// The parts stay apart, but meet what they meet in the collector, or they would be a limit of another machine:
//
//   - Each works on the very bodies that the load sends, as many as there are connections. In a loop over one body of a hundred
//     events the processor may learn every branch of it.
//   - Each runs on every core at the same time, as the collector does, which has no idle core beside it: where cores are
//     threads of one, a lone one may be faster.
//   - The code is the collector's: tokens that were seen before are remembered, bodies are checked for UTF-8, and garbage is
//     collected as eagerly. Records are made before, since that is what encode measures.
type partsCommand struct {
	Seed     uint64          `name:"parts-seed" default:"1" help:"What the events are drawn from."`
	Writers  int             `name:"parts-writers" default:"64" help:"Requests that wait for Kafka at the same time, each with events of its own."`
	Time     time.Duration   `name:"parts-time" default:"3s" help:"Time for all parts."`
	Producer producer.Config `embed:""`
	Kafka    kafka.Config    `embed:""`
	Token    token.Config    `embed:""`
}

// job is the events of one request, as each part needs them.
type job struct {
	body   []byte
	tokens [][]byte
	events []event.Event
}

// worker is one of those that do a part at the same time. Each call does a job.
type worker func(number int) error

// Run measures and prints.
func (c *partsCommand) Run(ctx context.Context) (err error) {
	ring, err := c.Token.Ring()
	if err != nil {
		return err
	}
	collector.CollectEagerly()
	m := newMessages(c.Seed, ring)
	jobs := make([]job, c.Writers)
	for i := range jobs {
		jobs[i] = m.job(batchEvents)
	}
	p, err := startProducer(ctx, c.Producer, c.Kafka)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Stop(context.WithoutCancel(ctx))) }()
	tokens, records := collector.NewTokens(ring), newRecords(c.Seed)
	costs := map[string]float64{}
	for _, part := range []struct {
		name    string
		share   time.Duration
		workers int
		worker  func() worker
	}{
		{"parse", 6, runtime.GOMAXPROCS(0), func() worker {
			parser := collector.NewParser()
			return func(n int) error { return parser.Parse(jobs[n%len(jobs)].body) }
		}},
		{"token", 6, runtime.GOMAXPROCS(0), func() worker {
			return func(n int) error { return verify(tokens, jobs[n%len(jobs)].tokens) }
		}},
		{"encode", 6, runtime.GOMAXPROCS(0), func() worker {
			arena := make([]byte, 0, 1<<20)
			return func(n int) error {
				arena = arena[:0]
				for i := range jobs[n%len(jobs)].events {
					arena = jobs[n%len(jobs)].events[i].Append(arena)
				}
				return nil
			}
		}},
		{"produce", 2, c.Writers, func() worker {
			own := records.parcel(batchEvents)
			return func(int) error { return p.Write(ctx, own.renew()) }
		}},
	} {
		if costs[part.name], err = loop(c.Time/part.share, part.workers, part.worker); err != nil {
			return fmt.Errorf("measure %s: %w", part.name, err)
		}
	}
	return json.NewEncoder(os.Stdout).Encode(costs)
}

func verify(tokens *collector.Tokens, all [][]byte) error {
	for _, t := range all {
		if _, err := tokens.Verify(t); err != nil {
			return err
		}
	}
	return nil
}

// job returns the events of the next request, which are those that batch would return.
func (m *messages) job(n int) job {
	j := job{body: []byte{'['}}
	for i := range n {
		var e event.Event
		m.next(&e)
		e.UserAgent, e.Data = bytes.Clone(e.UserAgent), bytes.Clone(e.Data) // the generator's own until the next
		if i > 0 {
			j.body = append(j.body, ',')
		}
		begin := len(j.body)
		j.body = m.appendEvent(j.body, &e, time.Now())
		one := j.body[begin+len(`{"token":"`):]
		j.tokens = append(j.tokens, bytes.Clone(one[:bytes.IndexByte(one, '"')]))
		j.events = append(j.events, e)
	}
	j.body = append(j.body, ']')
	return j
}

// loop lets workers do jobs of batchEvents events again and again and returns the CPU time of this process per
// event, in microseconds. The first third warms up.
func loop(long time.Duration, workers int, newWorker func() worker) (float64, error) {
	var (
		runs atomic.Int64
		quit atomic.Bool
		wait sync.WaitGroup
	)
	failed := make(chan error, workers)
	for i := range workers {
		w := newWorker()
		wait.Go(func() {
			for job := 41 * i; !quit.Load(); job++ { // no two do the same at the same time
				if err := w(job); err != nil {
					failed <- err
					return
				}
				runs.Add(1)
			}
		})
	}
	finish := func() {
		quit.Store(true)
		wait.Wait()
	}
	if err := pause(context.Background(), failed, long/3); err != nil {
		finish()
		return 0, err
	}
	before, begin := processTime(), runs.Load()
	err := pause(context.Background(), failed, 2*long/3)
	for runs.Load() == begin && err == nil { // a machine so busy that nothing was done yet
		err = pause(context.Background(), failed, long)
	}
	used, done := processTime()-before, runs.Load()-begin
	finish()
	return float64(used.Nanoseconds()) / 1000 / float64(max(done, 1)*batchEvents), err
}

// parts is the side that adds up what the parts cost.
func (c *collectBench) parts(writers int) Side {
	return Side{Name: "sum of parts", Run: func(ctx context.Context) (Sample, error) {
		cmd := exec.CommandContext(ctx, c.program, "bench", "parts", fmt.Sprintf("--parts-seed=%d", c.Seed),
			fmt.Sprintf("--parts-writers=%d", writers), fmt.Sprintf("--parts-time=%v", c.long))
		cmd.Env, cmd.Dir = append(cleanEnvironment(), c.engines.Environment()...), c.Dir
		var said bytes.Buffer
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("%w: %s", err, said.Bytes())
		}
		var costs map[string]float64
		if err := json.Unmarshal(out, &costs); err != nil {
			return nil, err
		}
		s := Sample{}
		for part, cost := range costs {
			s[CPU(part)] = cost
			s[CPU("server")] += cost
		}
		return s, nil
	}}
}
