package producer

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/tracing"
)

// ErrFull is wrapped by Write's error when too many records are waiting for Kafka. No record of the
// call was sent.
var ErrFull = errors.New("too many records wait for Kafka")

// ErrUnacknowledged is wrapped by Write's error when not every record was acknowledged. Any of them
// may be in Kafka nevertheless, or get there later: repeat them only under the same event ids.
var ErrUnacknowledged = errors.New("not acknowledged by Kafka")

// Write returns nil when Kafka has acknowledged every record, and otherwise, at the first record
// that fails or when ctx ends, an error that wraps ErrFull or ErrUnacknowledged.
//
// The caller may reuse the records when Write has returned, whatever its result.
func (p *Producer) Write(ctx context.Context, records []Record) error {
	if len(records) == 0 {
		return nil
	}
	err := p.write(ctx, records)
	p.failures.note(err)
	return err
}

func (p *Producer) write(ctx context.Context, records []Record) error {
	if !p.reserve(records) {
		p.metrics.full.Add(float64(len(records)))
		return ErrFull
	}
	pool := &p.calls
	if len(records) > 1 {
		pool = &p.batches
	}
	w := pool.Get().(*pendingWrite)
	w.begin(ctx, records)
	p.coalescer.submit(w)
	select {
	case err := <-w.result:
		if err != nil {
			return fmt.Errorf("%w: %w", ErrUnacknowledged, err)
		}
		w.end()
		pool.Put(w)
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrUnacknowledged, context.Cause(ctx))
	}
}

// Send submits the records in order, and calls settled once for each, with its index in the slice,
// as soon as Kafka has acknowledged it or it has failed for good: it is retried until ctx ends. So
// records behind one whose partition has no leader do not wait for it, and those of one key keep
// their order. An error that wraps ErrFull means that nothing was sent, and that settled is not
// called. settled must not block.
func (p *Producer) Send(ctx context.Context, records []Record, settled func(i int, err error)) error {
	if !p.reserve(records) {
		p.metrics.full.Add(float64(len(records)))
		return ErrFull
	}
	for i, r := range records {
		var done func(own *kgo.Record, err error)
		done = func(own *kgo.Record, err error) {
			if expired(err) && ctx.Err() == nil { // as in settled below
				p.client.TryProduce(ctx, &kgo.Record{Topic: own.Topic, Key: own.Key, Value: own.Value, Headers: own.Headers}, done)
				return
			}
			p.records.Add(-1)
			p.bytes.Add(-recordSize(own.Key, own.Value))
			if err != nil {
				p.metrics.unacknowledged.Inc()
				if errors.Is(err, kerr.UnknownTopicID) {
					p.forget(own.Topic)
				}
				err = fmt.Errorf("%w: %w", ErrUnacknowledged, err)
			}
			settled(i, err)
		}
		p.client.TryProduce(ctx, &kgo.Record{Topic: r.Topic, Key: r.Key, Value: r.Value}, done)
	}
	return nil
}

// reserve reserves capacity for all records or for none, so that a call is never refused in part.
func (p *Producer) reserve(records []Record) bool {
	size := int64(0)
	for i := range records {
		size += recordSize(records[i].Key, records[i].Value)
	}
	count := int64(len(records))
	// Both sums are taken before either is judged, so that undoing is the same in every case.
	countNow, sizeNow := p.records.Add(count), p.bytes.Add(size)
	if countNow > p.config.MaxBufferedRecords || sizeNow > p.config.MaxBufferedBytes {
		p.records.Add(-count)
		p.bytes.Add(-size)
		return false
	}
	return true
}

func recordSize(key, value []byte) int64 {
	const overhead = 200 // the client's own structures, roughly
	return int64(len(key) + len(value) + overhead)
}

// pendingWrite is one call of Write. It may outlive the call: records in flight are settled later,
// which is why they and their bytes are copies. It is reused only if all its records are
// acknowledged: no one refers to it any more then, since the client releases a record before it
// calls the promise. In batches of 100 events that saves two thirds of the garbage, 700 bytes an
// event.
type pendingWrite struct {
	producer *Producer
	ctx      context.Context //nolint:containedctx // of the call, which this is a part of
	records  []kgo.Record
	bytes    []byte // keys and values
	flight   *flight
	left     atomic.Int64
	result   chan error               // holds the first outcome; later ones find it full
	promise  func(*kgo.Record, error) // settled, created once
}

func (p *Producer) newPending() any {
	w := &pendingWrite{producer: p, result: make(chan error, 1)}
	w.promise = w.settled
	return w
}

func (w *pendingWrite) begin(ctx context.Context, records []Record) {
	w.ctx = ctx
	w.left.Store(int64(len(records)))
	size := 0
	for i := range records {
		size += len(records[i].Key) + len(records[i].Value)
	}
	if cap(w.records) < len(records) {
		w.records = make([]kgo.Record, 0, len(records))
	}
	if cap(w.bytes) < size {
		w.bytes = make([]byte, 0, size+size/4) // the next call's may be a little larger
	}
	all := w.bytes[:0]
	own := func(b []byte) []byte {
		if b == nil {
			return nil // another thing to Kafka than an empty one
		}
		from := len(all)
		all = append(all, b...)
		return all[from:len(all):len(all)]
	}
	w.records = w.records[:len(records)]
	now := time.Now() // else the client asks for each
	for i := range records {
		r := &records[i]
		w.records[i] = kgo.Record{Topic: r.Topic, Key: own(r.Key), Value: own(r.Value), Timestamp: now}
		if r.Trace != "" {
			w.records[i].Headers = []kgo.RecordHeader{{Key: tracing.HeaderName, Value: []byte(r.Trace)}}
		}
	}
}

// Capacity that a pending retains for its next call: for a request of the maximum number of events,
// of ordinary size. For a single record it is small, since thousands of them wait at the same time.
const (
	keptRecords = 500
	keptBytes   = 256 << 10
	keptOne     = 4 << 10
)

// end releases the contents of the records.
func (w *pendingWrite) end() {
	w.ctx, w.flight = nil, nil
	clear(w.records)
	if len(w.records) == 1 && cap(w.bytes) > keptOne || cap(w.bytes) > keptBytes {
		w.bytes = nil
	}
	if cap(w.records) > keptRecords {
		w.records = nil
	}
}

// flush submits the calls of a flight to the client. A call is not read any more once its last
// record is submitted, since it may be settled by then.
func (p *Producer) flush(f *flight) {
	for _, w := range f.calls {
		w.flight = f
		ctx, records, promise := w.ctx, w.records, w.promise
		if ctx.Err() != nil { // held back until its context ended: nothing of it is sent
			for i := range records {
				promise(&records[i], context.Cause(ctx))
			}
			continue
		}
		for i := range records {
			p.client.TryProduce(ctx, &records[i], promise)
		}
	}
}

func (w *pendingWrite) settled(r *kgo.Record, err error) {
	w.flight.answer()
	if expired(err) && w.ctx.Err() == nil {
		// A record before it in the same partition ran out of time, and the client then fails all records
		// that wait behind. This one has time left; it was not in flight, so this is no repeat.
		w.producer.client.TryProduce(w.ctx, &kgo.Record{Topic: r.Topic, Key: r.Key, Value: r.Value, Headers: r.Headers},
			w.promise)
		return
	}
	w.producer.records.Add(-1)
	w.producer.bytes.Add(-recordSize(r.Key, r.Value))
	last := w.left.Add(-1) == 0
	if err != nil {
		w.producer.metrics.unacknowledged.Inc()
		if errors.Is(err, kerr.UnknownTopicID) {
			w.producer.forget(r.Topic)
		}
	} else if !last {
		return
	}
	select {
	case w.result <- err:
	default:
	}
}

// expired reports whether a record failed because its context, or that of another record, ended.
func expired(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}
