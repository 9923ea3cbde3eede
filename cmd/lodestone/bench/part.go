package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
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
type partsCommand struct {
	Seed     uint64          `name:"parts-seed" default:"1" help:"What the events are drawn from."`
	Writers  int             `name:"parts-writers" default:"64" help:"Requests that wait for Kafka at the same time."`
	Time     time.Duration   `name:"parts-time" default:"3s" help:"Time for all parts."`
	Producer producer.Config `embed:""`
	Kafka    kafka.Config    `embed:""`
	Token    token.Config    `embed:""`
}

// Run measures and prints.
func (c *partsCommand) Run(ctx context.Context) (err error) {
	ring, err := c.Token.Ring()
	if err != nil {
		return err
	}
	m := newMessages(c.Seed, ring)
	body, tokens, events := m.parts(batchEvents)
	p, err := startProducer(ctx, c.Producer, c.Kafka)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Stop(context.WithoutCancel(ctx))) }()
	parser := collector.NewParser()
	records := newRecords(c.Seed)
	arena := make([]byte, 0, 1<<20)
	costs := map[string]float64{}
	for _, part := range []struct {
		name    string
		share   time.Duration
		workers int
		run     func() error
	}{
		{"parse", 6, 1, func() error { return parser.Parse(body) }},
		{"token", 6, 1, func() error {
			for _, t := range tokens {
				if _, err := ring.Verify(t); err != nil {
					return err
				}
			}
			return nil
		}},
		{"encode", 6, 1, func() error {
			arena = arena[:0]
			for i := range events {
				arena = events[i].Append(arena)
			}
			return nil
		}},
		{"produce", 2, c.Writers, func() error { return p.Write(ctx, records.take(batchEvents)) }},
	} {
		if costs[part.name], err = loop(c.Time/part.share, part.workers, part.run); err != nil {
			return fmt.Errorf("measure %s: %w", part.name, err)
		}
	}
	return json.NewEncoder(os.Stdout).Encode(costs)
}

// parts returns a body of events, and their tokens and the events themselves.
func (m *messages) parts(n int) (body []byte, tokens [][]byte, events []event.Event) {
	body = []byte{'['}
	for i := range n {
		var e event.Event
		m.next(&e)
		e.UserAgent, e.Data = bytes.Clone(e.UserAgent), bytes.Clone(e.Data) // the generator's own until the next
		if i > 0 {
			body = append(body, ',')
		}
		begin := len(body)
		body = m.appendEvent(body, &e, time.Now())
		one := body[begin+len(`{"token":"`):]
		tokens = append(tokens, bytes.Clone(one[:bytes.IndexByte(one, '"')]))
		events = append(events, e)
	}
	return append(body, ']'), tokens, events
}

// loop runs a function of batchEvents events again and again and returns the CPU time of this process per
// event, in microseconds. The first third warms up.
func loop(long time.Duration, workers int, run func() error) (float64, error) {
	var (
		runs atomic.Int64
		quit atomic.Bool
		wait sync.WaitGroup
	)
	failed := make(chan error, workers)
	for range workers {
		wait.Go(func() {
			for !quit.Load() {
				if err := run(); err != nil {
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
