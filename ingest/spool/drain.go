package spool

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"lodestone/ingest/producer"
)

const (
	// While live events go to Kafka, one batch of the spool is a small part of what is under way.
	liveBatchBytes = 1 << 20
	// While they do not, large batches make up for acknowledgements that are slow.
	openBatchBytes  = 8 << 20
	maxBatchRecords = 20_000
	minBatchRecords = 1 // one entry is always taken whole

	firstRetry = 250 * time.Millisecond
	lastRetry  = 15 * time.Second
	tidyAfter  = time.Second
	slowHold   = 10 * time.Second
)

// drain sends what is in the queue, oldest first, until ctx ends. One batch is under way at a time,
// and its write has no deadline: the client tries for as long as Kafka is away, so nothing is sent
// twice for the waiting alone.
func (s *Spool) drain(ctx context.Context, q *queue) {
	retry, limit := firstRetry, int64(maxBatchRecords)
	for ctx.Err() == nil {
		size := int64(liveBatchBytes)
		if s.circuit.open.Load() {
			size = openBatchBytes
		}
		b, err := q.read(size, limit)
		if err == nil && len(b.payloads) == 0 {
			s.caughtUp()
			s.idle(ctx, q)
			continue
		}
		begin := time.Now()
		if err == nil {
			err = s.send(ctx, q, b)
		}
		switch {
		case err == nil:
			retry, limit = firstRetry, maxBatchRecords
			s.sent(b, time.Since(begin))
			s.pace(ctx, b, time.Since(begin))
		case ctx.Err() != nil:
		default:
			if errors.Is(err, producer.ErrFull) {
				limit = max(minBatchRecords, min(limit, b.records)/2)
			}
			s.deps.Log.Warn("cannot drain the spool, trying again", "error", err, "in", retry, "records", b.records)
			wait(ctx, retry/2+rand.N(retry))
			retry = min(2*retry, lastRetry)
		}
	}
}

// send takes a batch to Kafka and acknowledges it to the queue.
func (s *Spool) send(ctx context.Context, q *queue, b batch) error {
	var records []producer.Record
	for _, p := range b.payloads {
		var err error
		if records, err = readPayload(records, p); err != nil {
			// Its checksum is right, so it is no damage: another release wrote it.
			return err
		}
	}
	err := s.deps.Kafka.Write(ctx, records)
	if refusedForGood(err) {
		err = s.oneByOne(ctx, q, records)
	}
	if err != nil {
		return err
	}
	return q.ack(b.end, b.records)
}

// oneByOne finds the records that Kafka refuses, and puts them back at the end of the spool, so
// that they are neither lost nor in the way. They are tried again each time their turn comes.
func (s *Spool) oneByOne(ctx context.Context, q *queue, records []producer.Record) error {
	for i := range records {
		err := s.deps.Kafka.Write(ctx, records[i:i+1])
		if err == nil {
			continue
		}
		if !refusedForGood(err) {
			return err
		}
		s.metrics.refused.Inc()
		s.deps.Log.Error("Kafka refuses a record of the spool, which is kept: mend the topic's settings", "topic", records[i].Topic, "bytes", len(records[i].Value), "error", err)
		payload := appendPayload(nil, time.Now(), records[i:i+1], nil) // it is marked already
		if err := q.append(ctx, payload, 1); err != nil {
			return err
		}
		wait(ctx, firstRetry) // there may be nothing else in the spool
	}
	return nil
}

// refusedForGood reports whether trying the same batch again cannot help.
func refusedForGood(err error) bool {
	return errors.Is(err, kerr.MessageTooLarge) || errors.Is(err, kerr.InvalidRecord) || errors.Is(err, kerr.RecordListTooLarge)
}

// sent judges Kafka by the batch that it has just acknowledged.
func (s *Spool) sent(b batch, took time.Duration) {
	s.metrics.drained.Add(float64(b.records))
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
		s.deps.Log.Info(why, "records_left_in_spool", records)
	}
}

// pace keeps the drain to its share while live events go to Kafka.
func (s *Spool) pace(ctx context.Context, b batch, took time.Duration) {
	if s.circuit.open.Load() {
		return
	}
	size := 0
	for _, p := range b.payloads {
		size += len(p)
	}
	share := time.Duration(float64(size) / float64(s.config.DrainBytes) * float64(time.Second))
	wait(ctx, max(share, took)-took)
}

// idle waits for something to drain, and gives room free when nothing comes.
func (s *Spool) idle(ctx context.Context, q *queue) {
	timer := time.NewTimer(tidyAfter)
	defer timer.Stop()
	select {
	case <-q.readable:
	case <-timer.C:
		q.tidy()
	case <-ctx.Done():
	}
}

func wait(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
