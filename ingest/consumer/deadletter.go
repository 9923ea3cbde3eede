package consumer

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"lodestone/ingest/stream"

	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/event"
)

// deadLetter is a record that cannot become a row, with the reason.
type deadLetter struct {
	record *kgo.Record
	reason string // one of a small fixed set
	err    error
}

func newDeadLetter(r *kgo.Record, err error) deadLetter {
	return deadLetter{record: r, reason: stream.Reason(err), err: err}
}

// message returns the record for the dead-letter topic. Its key is its origin: when a block is
// built again after a crash, its dead letters are sent again and collapse on that key.
func (d deadLetter) message(at stream.Place) *kgo.Record {
	offset := strconv.FormatInt(d.record.Offset, 10)
	partition := strconv.FormatInt(int64(at.Partition), 10)
	return &kgo.Record{
		Topic: event.DeadLetterTopic,
		Key:   []byte(at.TopicID.String() + "/" + partition + "/" + offset),
		Value: d.record.Value,
		Headers: []kgo.RecordHeader{
			{Key: "reason", Value: []byte(d.reason)},
			{Key: "error", Value: []byte(d.err.Error())},
			{Key: "topic", Value: []byte(d.record.Topic)},
			{Key: "topic_id", Value: []byte(at.TopicID.String())},
			{Key: "partition", Value: []byte(partition)},
			{Key: "offset", Value: []byte(offset)},
		},
	}
}

// produceDeadLetters returns when all of them are durable.
func produceDeadLetters(ctx context.Context, cl *kgo.Client, letters []deadLetter, at stream.Place) error {
	messages := make([]*kgo.Record, len(letters))
	for i, letter := range letters {
		messages[i] = letter.message(at)
	}
	if err := produce(ctx, cl, messages...); err != nil {
		return fmt.Errorf("write dead letters: %w", err)
	}
	return nil
}

// produce returns when the records are durable, or when ctx ends: then they may still be written,
// and have to be ones of which another copy does no harm. The client itself waits for the answer to
// a batch that it has sent, whatever becomes of ctx, and gives it up only when it is closed.
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

// deadLogEvery is the time between two lines of the log about dead letters of a partition: whoever
// writes to the topic would else fill the log as well.
const deadLogEvery = time.Minute

// warnDead logs the first of the block's dead letters, with the number of them since the last line.
func (w *worker) warnDead() {
	w.deadCount += len(w.block.dead)
	if time.Since(w.deadLogged) < deadLogEvery {
		return
	}
	first := w.block.dead[0]
	w.log.Warn("records cannot become rows: see `lodestone dead-letters list`", "records", w.deadCount,
		"offset", first.record.Offset, "reason", first.reason, "error", first.err)
	w.deadCount, w.deadLogged = 0, time.Now()
}

// writeDeadLetters writes the block's dead letters. They come before the insert: once the block is
// stored, its records are not read again.
func (w *worker) writeDeadLetters(ctx context.Context) bool {
	w.warnDead()
	return w.retry(ctx, "write dead letters", func() error {
		return produceDeadLetters(ctx, w.cl, w.block.dead, w.at)
	})
}
