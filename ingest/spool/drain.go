package spool

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"lodestone/ingest/producer"
)

const (
	// While live events go to Kafka, one batch of the spool is a small part of the records in flight.
	liveBatchBytes = 1 << 20
	// While they do not, large batches compensate for slow acknowledgements.
	openBatchBytes  = 8 << 20
	maxBatchRecords = 20_000
	minBatchRecords = 1 // one entry is never split

	// After this time without a completed batch the next one is sent as well: the cause may be a
	// partition without a leader, and the others need not wait for it.
	aheadAfter = time.Second
	// Maximum number of records that may then be in flight. Kafka's client holds them all.
	maxAhead      = 20_000
	maxAheadBytes = 24 << 20

	firstRetry = 250 * time.Millisecond
	lastRetry  = 4 * time.Second
	probeAfter = 4 * time.Second
	tidyAfter  = time.Second
	slowHold   = 10 * time.Second
)

// drain sends the entries of the queue, oldest first. It belongs to one goroutine.
//
// Usually one batch is in flight at a time. Its records have no deadline: the client retries for as
// long as Kafka is down, so waiting alone sends nothing twice. The client also keeps the order of
// each key, so that batches may overtake each other. The queue is acknowledged in order, so an
// entry that waits for a leader keeps its disk space, and all entries behind it, until there is
// one.
type drain struct {
	*Spool
	queue   *queue
	next    position  // of the reading; behind all flights
	flights []*flight // under way, oldest first
	settled chan struct{}
	due     time.Time // of the next batch: the drain keeps to its share
	retry   time.Duration
	limit   int64 // records of the next batch
}

func newDrain(s *Spool, q *queue) *drain {
	return &drain{Spool: s, queue: q, settled: make(chan struct{}, 1), retry: firstRetry, limit: maxBatchRecords}
}

// flight is a batch in flight, or several adjacent ones that are complete and wait for an earlier
// one.
type flight struct {
	began     time.Time
	spooledAt int64 // Unix milliseconds
	newest    int64 // when the last record was spooled
	end       position
	count     int64             // records
	expired   int64             // of these, too old to be sent
	bytes     int64             // of the payloads
	records   []producer.Record // nil once they are not needed any more
	errors    []error           // by record, nil: acknowledged; read when left is 0
	left      atomic.Int64
	took      atomic.Int64 // nanoseconds until the last record was settled, since it was sent last
}

func (f *flight) over() bool { return f.left.Load() == 0 }

// run sends until ctx ends.
func (d *drain) run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := d.land(ctx); err != nil {
			d.trouble(ctx, err)
			continue
		}
		if !d.mayLaunch() {
			d.await(ctx)
			continue
		}
		stopping := d.isStopping() // asked before the queue is: once it is, nothing is written any more
		launched, err := d.launch(ctx)
		switch {
		case err != nil:
			d.trouble(ctx, err)
		case !launched && len(d.flights) == 0:
			d.caughtUp()
			if stopping {
				close(d.sentAll)
				<-ctx.Done()
				return
			}
			d.idle(ctx)
		case !launched:
			d.await(ctx)
		}
	}
}

// mayLaunch reports whether the next batch may be sent now.
func (d *drain) mayLaunch() bool {
	if !d.circuit.open.Load() && !d.isStopping() && time.Until(d.due) > 0 {
		return false
	}
	if len(d.flights) == 0 {
		return true
	}
	records, bytes := d.underWay()
	last := d.flights[len(d.flights)-1]
	return records < maxAhead && bytes < maxAheadBytes && (last.over() || time.Since(last.began) >= aheadAfter)
}

// underWay returns the number of unsettled records, and roughly their bytes.
func (d *drain) underWay() (records, bytes int64) {
	for _, f := range d.flights {
		left := f.left.Load()
		records += left
		bytes += f.bytes * left / f.count
	}
	return records, bytes
}

// launch reads the next batch and sends it. It reports whether there was one.
func (d *drain) launch(ctx context.Context) (bool, error) {
	size := int64(liveBatchBytes)
	if d.circuit.open.Load() {
		size = openBatchBytes
	}
	records, _ := d.underWay()
	b, err := d.queue.readAt(d.next, size, max(minBatchRecords, min(d.limit, maxAhead-records)))
	if err != nil {
		return false, err
	}
	if len(b.payloads) == 0 {
		d.next = b.end
		if len(d.flights) == 0 {
			d.queue.ack(b.end, 0) // there is nothing but damage before it
		}
		return false, nil
	}
	f := &flight{began: time.Now(), spooledAt: payloadTime(b.payloads[0]), end: b.end}
	for _, p := range b.payloads {
		records, err := readPayload(f.records, p)
		if err != nil {
			// Its checksum is right, so it is not damaged: another release wrote it.
			return false, err
		}
		if d.config.isOver(payloadTime(p), f.began) {
			f.expired += int64(len(records) - len(f.records))
			continue
		}
		f.records, f.newest = records, payloadTime(p)
		f.bytes += int64(len(p))
	}
	f.count = int64(len(f.records)) + f.expired
	if len(d.flights) == 0 {
		d.queue.oldest.Store(f.spooledAt)
	}
	if len(f.records) > 0 {
		err := d.send(ctx, f)
		if errors.Is(err, producer.ErrFull) {
			d.limit = max(minBatchRecords, min(d.limit, b.records)/2)
		}
		if err != nil {
			return false, err
		}
		d.due = f.began.Add(time.Duration(float64(f.bytes) / float64(d.config.DrainBytes) * float64(time.Second)))
	}
	d.next = b.end
	d.flights = append(d.flights, f)
	return true, nil
}

// send sends the records of a flight. After an error none of them is in flight.
func (d *drain) send(ctx context.Context, f *flight) error {
	before, began := f.errors, time.Now()
	f.errors = make([]error, len(f.records))
	f.left.Store(int64(len(f.records)))
	err := d.deps.Kafka.Send(ctx, f.records, func(i int, err error) {
		f.errors[i] = err
		f.took.Store(int64(time.Since(began)))
		if f.left.Add(-1) == 0 {
			notify(d.settled)
		}
	})
	if err != nil {
		f.errors = before
		f.left.Store(0)
	}
	return err
}

// expire counts and logs records that are dropped, since they are too old.
func (s *Spool) expire(records int64) {
	if records == 0 {
		return
	}
	s.metrics.expired.Add(float64(records))
	s.deps.Log.Error("acknowledged events are lost: Kafka did not accept them within --spool-max-age", "records",
		records, "max_age", s.config.MaxAge)
}

// land acknowledges to the queue the flights that are complete, up to the first that is not. Of a
// flight that failed, it sends again what Kafka did not take, after a pause.
func (d *drain) land(ctx context.Context) error {
	for len(d.flights) > 0 && d.flights[0].over() {
		f := d.flights[0]
		if err := f.reduce(d.config.Age); err != nil {
			d.trouble(ctx, err)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return d.send(ctx, f)
		}
		d.queue.ack(f.end, f.count)
		d.expire(f.expired)
		d.flights = d.flights[1:]
		if len(d.flights) > 0 {
			d.queue.oldest.Store(d.flights[0].spooledAt)
		}
		d.retry, d.limit = firstRetry, maxBatchRecords
		if sent := f.count - f.expired; sent > 0 || f.expired == 0 { // else Kafka was not asked
			d.sent(sent, time.Duration(f.took.Load()))
		}
	}
	d.merge()
	return nil
}

// reduce leaves the records that Kafka did not take in a flight that is over, and returns the
// cause, nil if there are none. Records that are too old by now are dropped.
func (f *flight) reduce(age Age) (cause error) {
	var rest []producer.Record
	var errs []error
	for i, err := range f.errors {
		if err != nil {
			rest, errs, cause = append(rest, f.records[i]), append(errs, err), err
		}
	}
	if cause != nil && age.isOver(f.newest, time.Now()) {
		f.expired += int64(len(rest))
		rest, errs, cause = nil, nil, nil
	}
	f.records, f.errors = rest, errs
	if cause != nil {
		return fmt.Errorf("%d records of the spool: %w", len(rest), cause)
	}
	return nil
}

// failed reports whether a flight that is over has records that Kafka did not take.
func (f *flight) failed() bool {
	return slices.ContainsFunc(f.errors, func(err error) bool { return err != nil })
}

// merge joins adjacent flights that are complete, and frees their memory.
func (d *drain) merge() {
	rest := d.flights[:0]
	for _, f := range d.flights {
		if f.over() && !f.failed() {
			f.records, f.errors = nil, nil
			if n := len(rest); n > 0 && rest[n-1].over() && !rest[n-1].failed() {
				before := rest[n-1]
				before.end, before.count, before.bytes = f.end, before.count+f.count, before.bytes+f.bytes
				before.expired += f.expired
				before.began = f.began
				continue
			}
		}
		rest = append(rest, f)
	}
	d.flights = rest
}

// trouble logs an error and waits before the next try.
func (d *drain) trouble(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	d.deps.Log.Warn("cannot drain the spool, trying again", "error", err, "retry_in", d.retry)
	if d.retry >= probeAfter && (errors.Is(err, errUnreadable) || errors.Is(err, errPayload) || isRefusedForGood(err)) {
		// The drain cannot find out whether Kafka accepts other events, so live requests have to:
		// otherwise they would fill a spool that is never drained.
		d.close("the spool cannot be drained for another reason than Kafka: events try Kafka first")
	}
	if d.isStopping() { // for which there is little time
		d.retry = firstRetry
	}
	d.pause(ctx, d.retry/2+rand.N(d.retry)) // the next step sees that ctx ended
	d.retry = min(2*d.retry, lastRetry)
}

// isRefusedForGood reports whether Kafka takes a record only after the topic's settings are
// corrected. Until then it, and everything that was spooled after it, waits.
func isRefusedForGood(err error) bool {
	return errors.Is(err, kerr.MessageTooLarge) || errors.Is(err, kerr.InvalidRecord) ||
		errors.Is(err, kerr.RecordListTooLarge)
}

// isStopping reports whether what is left is to be sent without regard to others, before the
// process ends.
func (d *drain) isStopping() bool {
	select {
	case <-d.stopping:
		return true
	default:
		return false
	}
}

// pause waits, at most until a stop begins or ctx ends.
func (d *drain) pause(ctx context.Context, wait time.Duration) {
	begun := d.stopping
	if d.isStopping() {
		begun = nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-begun:
	case <-ctx.Done():
	}
}

// await returns when a flight is complete, or when the next batch may be due.
func (d *drain) await(ctx context.Context) {
	limit := aheadAfter
	if due := time.Until(d.due); due > 0 {
		limit = min(limit, due)
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	begun := d.stopping
	if d.isStopping() {
		begun = nil
	}
	select {
	case <-d.settled:
	case <-timer.C:
	case <-begun:
	case <-ctx.Done():
	}
}

// sent judges the state of Kafka by the batch that it has just acknowledged.
func (s *Spool) sent(records int64, took time.Duration) {
	s.metrics.drained.Add(float64(records))
	if took > s.config.After/2 {
		s.circuit.slowFor(slowHold)
		return
	}
	s.close("Kafka takes events again")
}

// caughtUp closes the circuit of a Kafka that was slow, once there is nothing to drain.
func (s *Spool) caughtUp() {
	if !s.circuit.slows() {
		s.close("the spool is drained")
	}
}

func (s *Spool) close(why string) {
	if s.circuit.open.Swap(false) {
		s.metrics.open.Set(0)
		_, records := s.queue.Load().state()
		s.deps.Log.Info(why, "records", records)
	}
}

// idle waits for entries to drain, and frees disk space when none come.
func (d *drain) idle(ctx context.Context) {
	timer := time.NewTimer(tidyAfter)
	defer timer.Stop()
	select {
	case <-d.queue.readable:
	case <-timer.C:
		d.queue.tidy()
	case <-d.stopping:
	case <-ctx.Done():
	}
}
