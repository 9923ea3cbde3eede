package consumer

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/event"
)

// prepare does what comes before the insert: once a batch is stored, its records are not read
// again.
func (b *batcher) prepare(ctx context.Context, batch *batch) bool {
	batch.prepared = batch.prepared ||
		b.writeDeadLetters(ctx, batch) && b.sendStrays(ctx, batch) && b.dropStored(ctx, batch) &&
			b.dropStoredRepeats(ctx, batch)
	return batch.prepared
}

// deadLogEvery is the time between two lines of the log about dead letters of a partition: whoever
// writes to the topic would else fill the log as well.
const deadLogEvery = time.Minute

// warnDead logs the first of the span's dead letters, with the number of them since the last line.
func (s *span) warnDead() {
	p := s.of
	p.deadCount += len(s.dead)
	if time.Since(p.deadLogged) < deadLogEvery {
		return
	}
	first := s.dead[0]
	p.log.Warn("records cannot become rows: see `lodestone dead-letters list`", "records", p.deadCount,
		"offset", first.record.Offset, "reason", first.reason, "error", first.err)
	p.deadCount, p.deadLogged = 0, time.Now()
}

// writeDeadLetters writes the batch's dead letters. They come before the insert: once the batch is
// stored, its records are not read again.
func (b *batcher) writeDeadLetters(ctx context.Context, batch *batch) bool {
	var messages []*kgo.Record
	for _, s := range batch.spans {
		for _, letter := range s.dead {
			messages = append(messages, letter.message(s.of.place))
		}
		if len(s.dead) > 0 {
			s.warnDead()
		}
	}
	return len(messages) == 0 || b.retry(ctx, batch.owners(), "write dead letters", func() error {
		if err := produce(ctx, b.client, messages...); err != nil {
			return fmt.Errorf("write dead letters: %w", err)
		}
		return nil
	})
}

// produce returns when the records are durable, or when ctx ends: then they may still be written,
// so a second copy of them must do no harm. The client itself waits for the answer to a batch that
// it has sent, even after ctx has ended, and gives up only when it is closed.
func produce(ctx context.Context, cl *kgo.Client, records ...*kgo.Record) error {
	done := make(chan error, 1)
	go func() { done <- cl.ProduceSync(ctx, records...).FirstErr() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// sendStrays writes the batch's strays to the partitions of their keys. They come before the
// insert: once the batch is stored, its records are not read again. Another copy is a repeat.
func (b *batcher) sendStrays(ctx context.Context, batch *batch) bool {
	var records []*kgo.Record
	for _, s := range batch.spans {
		for _, stray := range s.strays {
			records = append(records, &kgo.Record{
				Topic: s.of.topic, Partition: stray.to, Key: stray.record.Key,
				Value: event.MarkSpooled(slices.Clone(stray.record.Value)),
			})
		}
	}
	return len(records) == 0 || b.retry(ctx, batch.owners(),
		"pass records on to the partition of their keys", func() error {
			if err := produce(ctx, b.client, records...); err != nil {
				return fmt.Errorf("pass records on: %w", err)
			}
			return nil
		})
}
