package spool

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"lodestone/ingest/producer"
	"lodestone/pkg/deadline"
)

// refusedDir, below the spool's own directory, holds a spool of the records that Kafka refuses for
// good.
const refusedDir = "refused"

const (
	// refusedShare of --spool-max-bytes is the maximum size of refused records. When it is reached,
	// the drain waits.
	refusedShare = 16
	firstRefusal = 10 * time.Second
	lastRefusal  = time.Hour
	// refusedStep limits the records tried at a time, since everything else waits meanwhile.
	refusedStep = 50
)

// refused stores the records that Kafka refuses for good, such as those that are larger than the
// topic allows, in a queue of their own: they do not block others, and are retried less and less
// often, since only an operator can fix the cause. It belongs to the drain's goroutine.
type refused struct {
	*Spool
	queue *queue
	due   time.Time // of the next round
	wait  time.Duration
	left  int64 // records of the round that is under way
}

// refusedForGood reports whether trying the same batch again cannot help.
func refusedForGood(err error) bool {
	return errors.Is(err, kerr.MessageTooLarge) || errors.Is(err, kerr.InvalidRecord) || errors.Is(err, kerr.RecordListTooLarge)
}

// again sends the records of a flight that Kafka did not accept. Those that it refuses for good are
// durable among the refused afterwards.
func (d *drain) again(ctx context.Context, f *flight) error {
	var rest []producer.Record
	var places []int // of rest in the flight
	var why error
	for i, err := range f.errors {
		if err != nil {
			rest, places, why = append(rest, f.records[i]), append(places, i), err
		}
	}
	if ctx.Err() != nil {
		return why
	}
	if !refusedForGood(why) {
		d.deps.Log.Warn("Kafka did not take a part of the spool, sending it again", "error", why, "records", len(rest))
		if why = d.deps.Kafka.Write(ctx, rest); why == nil {
			return nil
		}
	}
	if !refusedForGood(why) {
		return why
	}
	for i := range rest {
		err := d.deps.Kafka.Write(ctx, rest[i:i+1])
		if refusedForGood(err) {
			err, why = d.refused.keep(ctx, rest[i], f.spooledAt), err
			f.refused++
		}
		if err != nil {
			return err
		}
		f.errors[places[i]] = nil // a failure after this does not repeat it
	}
	d.refused.report(f.refused, why)
	return nil
}

// keep stores a record durably among the refused ones, with the time at which it was spooled. A
// record that was among them always fits.
func (r *refused) keep(ctx context.Context, record producer.Record, spooledAt int64) error {
	payload := appendPayload(nil, time.UnixMilli(spooledAt), []producer.Record{record}, nil) // it is marked already
	if r.left > 0 {
		return r.queue.add(ctx, payload, 1, math.MaxInt64)
	}
	return r.queue.append(ctx, payload, 1)
}

func (r *refused) report(records int64, why error) {
	if records > 0 {
		r.metrics.refused.Add(float64(records))
		r.deps.Log.Error("Kafka refuses records of the spool for good: they are set aside and tried again; correct the topic's settings",
			"records", records, "error", why)
	}
}

// retry tries the next few refused records if a round is due. Those that are refused again go to
// the end. A round that fails for another reason ends: no other work waits for it.
func (r *refused) retry(ctx context.Context) {
	if r.left == 0 {
		_, records := r.queue.state()
		if records == 0 || time.Now().Before(r.due) {
			return
		}
		r.left = records
		r.due = time.Now().Add(r.wait)
		r.wait = min(2*r.wait, lastRefusal)
	}
	taken, err := r.step(ctx)
	if taken > 0 {
		r.wait = firstRefusal // an operator corrected something
		r.metrics.drained.Add(float64(taken))
	}
	if err != nil {
		r.left = 0
		if ctx.Err() == nil {
			r.deps.Log.Warn("cannot try again what Kafka refused", "error", err, "retry_in", time.Until(r.due))
		}
	}
}

// step returns the number of records that Kafka accepted.
func (r *refused) step(ctx context.Context) (taken int64, err error) {
	b, err := r.queue.read(liveBatchBytes, min(r.left, refusedStep))
	if err != nil {
		return 0, err
	}
	var why error
	var expired int64
	for _, p := range b.payloads {
		records, err := readPayload(nil, p)
		if err != nil {
			return taken, err
		}
		if r.config.isOver(payloadTime(p), time.Now()) {
			expired += int64(len(records))
			continue
		}
		for _, record := range records {
			attempt, cancel := deadline.Within(ctx, r.config.After) // its partition may have no leader
			err := r.deps.Kafka.Write(attempt, []producer.Record{record})
			cancel()
			if refusedForGood(err) {
				why, err = err, r.keep(ctx, record, payloadTime(p))
				taken--
			}
			if err != nil {
				return taken, err
			}
			taken++
		}
	}
	r.queue.ack(b.end, b.records)
	r.expire(expired)
	r.report(b.records-taken-expired, why)
	r.left = max(0, r.left-b.records)
	if len(b.payloads) == 0 {
		r.left = 0 // what is left is damaged
	}
	return taken, nil
}
