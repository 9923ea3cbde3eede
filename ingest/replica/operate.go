package replica

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lodestone/pkg/service"
)

// State is what is known about a replica.
type State struct {
	Shard  uint16
	Name   string
	Writes bool
	Epoch  int64         // that the server stores; 0: it does not answer
	Lag    time.Duration // as ClickHouse estimates it
	Wrong  string        // why it does not write, or does not answer; ""
}

// List returns all replicas on record, in the order of their shards.
func (c *Cluster) List(ctx context.Context) (all []State, err error) {
	shards, err := c.Shards(ctx)
	if err != nil {
		return nil, err
	}
	for _, shard := range shards {
		r, err := c.Read(ctx, shard)
		if err != nil {
			return nil, err
		}
		for _, name := range r.Replicas {
			s := State{Shard: shard, Name: name, Writes: r.Writer == name && r.Ready}
			if r.Writer == name && !r.Ready {
				s.Wrong = "is about to take over"
			}
			if err := c.ask(ctx, &s); err != nil {
				s.Wrong = err.Error()
			}
			all = append(all, s)
		}
	}
	return all, nil
}

func (c *Cluster) ask(ctx context.Context, s *State) (err error) {
	ctx, cancel := context.WithTimeout(ctx, failoverTimeout)
	defer cancel()
	server := c.server(s.Shard, s.Name)
	defer server.Close()
	if s.Epoch, err = server.Epoch(ctx); err != nil {
		return err
	}
	s.Lag, err = server.Lag(ctx)
	return err
}

// movePause is the time between two tries of Until.
const movePause = 500 * time.Millisecond

// Until repeats an operation on a shard until it succeeds or ctx ends. It calls waits with what is waited for, each time that changes.
func (c *Cluster) Until(ctx context.Context, shard uint16, waits func(string), operate func(*Mover) error) error {
	m, closeAll, err := c.Mover(ctx, shard)
	if errors.Is(err, ErrNoRecord) {
		return fmt.Errorf("%w: it has one server", err)
	}
	if err != nil {
		return err
	}
	defer closeAll()
	for before := ""; ; {
		err := operate(m)
		wait, ok := errors.AsType[*WaitError](err)
		if !ok && !errors.Is(err, ErrChanged) {
			return err
		}
		if ok && wait.For != before {
			before = wait.For
			waits(before)
		}
		if service.Sleep(ctx, movePause) != nil {
			return err
		}
	}
}
