// Package spool stores events on the collector's own disk while Kafka is down, slow or refusing,
// and sends them on when it is back.
//
// No library was found for the queue itself: no maintained one both groups the fsync of many
// writers and preserves the entries after damage (tidwall/wal: one fsync a write, no checksums;
// raft-wal and etcd's log: designed for Raft, end at the first damage; go-diskqueue: no checksums,
// and it syncs after the fact).
package spool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"lodestone/ingest/producer"
	"lodestone/pkg/limit"
	"lodestone/pkg/service"
)

// Writer writes records to Kafka, as *producer.Producer does.
type Writer interface {
	Write(ctx context.Context, records []producer.Record) error
	Send(ctx context.Context, records []producer.Record, settled func(i int, err error)) error
}

// Deps are the dependencies of a spool.
type Deps struct {
	Kafka      Writer
	Log        *slog.Logger
	Registerer prometheus.Registerer
}

// Spool sits in front of Kafka and makes records durable either there or on the disk. It is a
// service.Service; Write is safe for concurrent use between Start and Stop.
type Spool struct {
	*service.Loop
	config  Config
	deps    Deps
	disk    disk
	metrics *metrics
	queue   atomic.Pointer[queue]
	circuit circuit

	stopOnce sync.Once
	stopping chan struct{} // closed: nothing is written any more, send what there is
	sentAll  chan struct{} // closed: nothing is left to send
	ended    chan struct{} // closed: the run is over
}

// New returns a spool. It uses the disk only after its start.
func New(c Config, d Deps) (*Spool, error) { return newSpool(c, d, realDisk{}) }

func newSpool(c Config, d Deps, on disk) (*Spool, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if !c.Enabled() || d.Kafka == nil || d.Log == nil || d.Registerer == nil {
		return nil, errors.New("make spool: directory, Kafka, log and registerer are all needed")
	}
	s := &Spool{config: c, deps: d, disk: on, stopping: make(chan struct{}),
		sentAll: make(chan struct{}), ended: make(chan struct{})}
	var err error
	if s.metrics, err = newMetrics(d.Registerer, gauges{
		bytes:   s.gauge(func(q *queue) int64 { used, _ := q.state(); return used }),
		damaged: s.gauge(func(q *queue) int64 { return q.aside.Load() }),
		records: s.gauge(func(q *queue) int64 { _, records := q.state(); return records }),
		oldest:  s.oldest,
	}); err != nil {
		return nil, err
	}
	s.Loop = service.NewLoop("spool", s.run)
	return s, nil
}

// gauge returns a number of the queue, 0 before the start.
func (s *Spool) gauge(of func(*queue) int64) func() float64 {
	return func() float64 {
		if q := s.queue.Load(); q != nil {
			return float64(of(q))
		}
		return 0
	}
}

func (s *Spool) oldest() float64 {
	if q := s.queue.Load(); q != nil {
		if at := q.oldest.Load(); at > 0 {
			return max(0, time.Since(time.UnixMilli(at)).Seconds()) // the clock may have been set back
		}
	}
	return 0
}

// Write returns nil when Kafka has acknowledged every record, or all of them are synced to the
// disk. Any error means that the sender has to repeat all of them. When Kafka did not answer in
// time, records that are in the spool may be in Kafka as well, or get there later: there they are
// marked as spooled, and the consumer drops the second of one event id.
func (s *Spool) Write(ctx context.Context, records []producer.Record) error {
	if len(records) == 0 {
		return nil
	}
	q := s.queue.Load()
	if q == nil {
		return errClosed
	}
	var kafka error
	if !s.straight(q) {
		attempt, cancel := limit.Within(ctx, s.config.After)
		kafka = s.deps.Kafka.Write(attempt, records)
		cancel()
		if kafka == nil {
			return nil
		}
		if ctx.Err() != nil {
			return kafka
		}
	}
	payload := appendPayload(make([]byte, 0, payloadSize(records)), time.Now(), records, mark)
	if err := q.append(ctx, payload, len(records)); err != nil {
		if errors.Is(err, ErrFull) {
			s.metrics.full.Add(float64(len(records)))
		}
		if kafka != nil {
			err = fmt.Errorf("%w, after Kafka failed: %w", err, kafka)
		}
		return err
	}
	s.metrics.spooled.Add(float64(len(records)))
	trace.SpanFromContext(ctx).SetAttributes(attribute.Bool("spooled", true)) // the records lose their trace
	if kafka != nil && !s.circuit.open.Swap(true) {
		s.metrics.open.Set(1)
		s.deps.Log.Warn("Kafka does not accept events in time: they go to the spool", "error", kafka)
	}
	return nil
}

// Stop sends what the spool holds to Kafka, for Config.SendTimeout or three quarters of the time of
// ctx, and ends. What is left then stays on the disk and is logged. Stop the callers of Write
// first.
func (s *Spool) Stop(ctx context.Context) error {
	if s.queue.Load() != nil {
		limit := s.config.SendTimeout
		if end, ok := ctx.Deadline(); ok {
			limit = min(limit, time.Until(end)*3/4)
		}
		drain, cancel := context.WithTimeout(ctx, limit)
		s.Drain(drain)
		cancel()
	}
	return s.Loop.Stop(ctx)
}

// Drain sends what the spool holds to Kafka. It returns when nothing is left, or ctx or the spool
// ends. Stop the callers of Write first.
func (s *Spool) Drain(ctx context.Context) {
	s.stopOnce.Do(func() { close(s.stopping) })
	select {
	case <-s.sentAll:
	case <-s.ended:
	case <-ctx.Done():
	}
}

// Records returns how many records wait in the spool. It is for a spool that was started.
func (s *Spool) Records() int64 {
	_, records := s.queue.Load().state()
	return records
}

// report logs what stays on the disk after the end.
func (s *Spool) report() {
	records := s.Records()
	if records == 0 {
		s.deps.Log.Info("the spool is empty: Kafka has every event")
		return
	}
	s.deps.Log.Warn("events stay in the spool: start a collector on its directory, or run lodestone spool send",
		"records", records, "directory", s.config.Dir)
}

// straight reports whether to spool without trying Kafka.
func (s *Spool) straight(q *queue) bool {
	if !s.circuit.open.Load() {
		return false
	}
	if _, records := q.state(); records > 0 {
		return true
	}
	return s.circuit.slows()
}

// run opens the queue and drains it until it is stopped.
func (s *Spool) run(ctx context.Context, ready func()) (err error) {
	defer close(s.ended)
	q, err := openQueue(s.config.Dir, s.config.MaxBytes, s.config.SegmentBytes, s.disk, s.deps.Log, s.metrics)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.close()) }()
	if _, records := q.state(); records > 0 {
		// What an earlier process left says that Kafka was away. The drain finds out.
		s.circuit.open.Store(true)
		s.metrics.open.Set(1)
	}
	s.queue.Store(q)
	ready()
	var sweeper sync.WaitGroup
	sweeper.Go(func() { s.sweep(ctx, q) })
	newDrain(s, q).run(ctx)
	sweeper.Wait() // it ends with ctx, as the drain did
	s.report()
	return ctx.Err()
}
