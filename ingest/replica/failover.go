package replica

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"lodestone/pkg/service"
)

const (
	failoverPause   = 2 * time.Second // between two looks
	failoverTimeout = 5 * time.Second // of one question to a replica
	// silentFor is how long a writer must not have answered before another takes over: a restart is faster than a change of writers.
	silentFor = 10 * time.Second
)

// Failover replaces writers that are away, and completes moves that were interrupted. Any number of processes may run it. It replaces a
// writer only if Keeper has no session of it: one that only this process cannot reach goes on. An operator can move that one.
type Failover struct {
	*service.Loop
	deps   FailoverDeps
	silent map[uint16]silence
	waits  map[uint16]string // what was logged last
}

// silence is that of the writer of a shard. The one that follows begins with none.
type silence struct {
	writer string
	since  time.Time
}

// FailoverDeps is what the service works with; all of it is required.
type FailoverDeps struct {
	Cluster *Cluster
	Log     *slog.Logger
}

// NewFailover returns the service.
func NewFailover(d FailoverDeps) *Failover {
	f := &Failover{deps: d, silent: map[uint16]silence{}, waits: map[uint16]string{}}
	f.Loop = service.NewLoop("writers of shards", f.run)
	return f
}

func (f *Failover) run(ctx context.Context, ready func()) error {
	ready()
	for {
		if err := f.Step(ctx); err != nil && ctx.Err() == nil {
			f.deps.Log.Warn("cannot look after the writers of shards, will try again", "error", err)
		}
		if err := service.Sleep(ctx, failoverPause); err != nil {
			return nil //nolint:nilerr // the service was stopped
		}
	}
}

// Step looks at each shard once.
func (f *Failover) Step(ctx context.Context) error {
	shards, err := f.deps.Cluster.Shards(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, shard := range shards {
		err := f.look(ctx, shard)
		if wait, ok := errors.AsType[*WaitError](err); ok {
			if f.waits[shard] != wait.For { // once
				f.deps.Log.Warn("no replica of a shard writes yet", "shard", shard, "waits_until", wait.For, "error", err)
			}
			f.waits[shard] = wait.For
			continue
		}
		if errors.Is(err, ErrChanged) {
			continue // another process was faster
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (f *Failover) look(ctx context.Context, shard uint16) error {
	m, closeAll, err := f.deps.Cluster.Mover(ctx, shard)
	if err != nil {
		return err
	}
	defer closeAll()
	r, err := m.Register.Read(ctx, shard)
	if err != nil {
		return err
	}
	if len(r.Replicas) == 1 || answers(ctx, m, r.Writer) {
		delete(f.silent, shard)
		if r.Ready {
			delete(f.waits, shard)
			return nil
		}
		return f.move(ctx, m, r.Writer)
	}
	silent := f.silent[shard]
	if silent.writer != r.Writer {
		f.silent[shard] = silence{r.Writer, time.Now()}
		return nil
	}
	if r.Ready && time.Since(silent.since) < silentFor {
		return nil
	}
	to, err := f.choose(ctx, m, r)
	if err != nil || to == "" {
		return err
	}
	return f.move(ctx, m, to)
}

// choose returns a replica that can take over, or "".
func (f *Failover) choose(ctx context.Context, m *Mover, r Record) (string, error) {
	answer, to := 0, ""
	var errs []error
	for _, name := range r.Replicas {
		if name == r.Writer || !answers(ctx, m, name) {
			continue
		}
		s, err := find(m.Servers, name)
		if err != nil {
			return "", err
		}
		limited, cancel := context.WithTimeout(ctx, failoverTimeout)
		active, err := s.Active(limited, r.Writer)
		cancel()
		if err != nil { // it can neither take over nor store anything
			errs = append(errs, fmt.Errorf("ask replica %s: %w", name, err))
			continue
		}
		answer++
		if active {
			return "", &WaitError{r.Shard, "replica " + r.Writer + " answers this process, or its session in Keeper has ended"}
		}
		if to == "" {
			to = name
		}
	}
	if answer < r.Majority() {
		wait := &WaitError{r.Shard, fmt.Sprintf("%d of %d replicas answer and have a session in Keeper: %d do", r.Majority(), len(r.Replicas), answer)}
		return "", errors.Join(append([]error{wait}, errs...)...)
	}
	return to, nil
}

func (f *Failover) move(ctx context.Context, m *Mover, to string) error {
	r, err := m.Move(ctx, to)
	if err != nil {
		return err
	}
	f.deps.Log.Info("a replica writes", "shard", r.Shard, "replica", r.Writer, "epoch", r.Epoch)
	return nil
}

// answers reports whether a replica answers.
func answers(ctx context.Context, m *Mover, name string) bool {
	s, err := find(m.Servers, name)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, failoverTimeout)
	defer cancel()
	_, err = s.Epoch(ctx) // which takes no longer the more rows there are
	return err == nil
}
