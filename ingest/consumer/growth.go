package consumer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/stream"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
)

// The number of partitions doubles while they are read (`lodestone partitions double`). Then the keys of partition p are those of p and
// of its child. Three rules keep every event stored once, whatever collectors know of it:
//   - A record of event.AppendGrowth in p says from where on p stores no keys of the child: its cut. It is in the log, so that every
//     owner of p does the same. Records of such keys behind it, by a collector that knows the old number, are written to the child's
//     log, marked as spooled, before their block is stored (sendStrays).
//   - p records its cut in Postgres once it has stored everything below (recordCut), and the child stores nothing before that (inherit).
//   - The child's window of repeats begins with the last records of p below the cut, and those of p's parent. Marked events are looked
//     for among all rows, so also those of p.
//
// A child whose parent has no cut writes the record itself, again after a while: the first one in the log counts.

const (
	inheritRetry = 500 * time.Millisecond // between looks whether the parent has recorded its cut
	inheritAsk   = 10 * time.Second       // between two records that ask the parent for it
)

// inherit returns once the partition may store: it is used, and its parent has stored what belongs to it. It fills the window of repeats
// with the parent's last records, and leaves the layout as it is by then. It reports whether the worker may go on.
func (w *worker) inherit(ctx context.Context, p *position) bool {
	ctx, end := context.WithCancel(ctx)
	defer end()
	go func() { // a worker that is stopped has nothing to finish yet
		select {
		case <-w.stopping:
			end()
		case <-ctx.Done():
		}
	}()
	var asked time.Time
	for logged := false; !isReady(p.layout, w.at.Partition); {
		parent, partitions, used := p.layout.Parent(w.at.Partition)
		switch {
		case used && time.Since(asked) > inheritAsk:
			if !w.retry(ctx, "ask the parent partition for its cut", func() error { return w.askForCut(ctx, parent, partitions) }) {
				return false
			}
			asked = time.Now()
			w.log.Info("waiting until the parent partition has stored what belongs to this one", "parent_partition", parent)
		case !used && !logged && w.builder.end.Load() > p.next:
			w.log.Error("records were written to a partition that is not used; they wait until `lodestone partitions double` was run")
			logged = true
		}
		timer := time.NewTimer(inheritRetry)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return false
		}
		if !w.retry(ctx, "read the recorded partitions", func() (err error) {
			p.layout, err = w.ledger.Layout(ctx, w.at.TopicID)
			return err
		}) {
			return false
		}
	}
	w.builder.partitions = p.layout.CountAt(w.at.Partition, p.fetch)
	if _, _, child := p.layout.Parent(w.at.Partition); !child || p.fetch > 0 { // what its own log lacks has expired, and is looked for in ClickHouse
		return true
	}
	return w.retryLook(ctx, "read the end of the parent partition", func(ctx context.Context) error { return w.fillFromAncestors(ctx, p.layout, p.next) })
}

func isReady(l kafka.Layout, partition int32) bool {
	if _, _, child := l.Parent(partition); child {
		_, _, cut := l.Cut(partition)
		return cut
	}
	return l.Uses(partition)
}

// askForCut writes the record by which the parent learns of its child.
func (w *worker) askForCut(ctx context.Context, parent int32, partitions int) error {
	record := &kgo.Record{Topic: w.stream.Topic, Partition: parent, Value: event.AppendGrowth(nil, partitions)}
	if err := produce(ctx, w.cl, record); err != nil {
		return fmt.Errorf("write to the parent partition: %w", err)
	}
	return nil
}

// inherited is a range of an ancestor's log that belongs before this partition's.
type inherited struct {
	partition int32
	offsets   kafka.Range
	shift     int64 // what is added to its offsets, so that they are below 0 and go on in this partition's
}

// fillFromAncestors fills the window of repeats with what is before the partition's own log. If some of it expired, repeats of it are
// looked for in ClickHouse instead.
func (w *worker) fillFromAncestors(ctx context.Context, layout kafka.Layout, next int64) error {
	held, err := kafka.Ranges(ctx, w.cl, w.stream.Topic)
	if err != nil {
		return err
	}
	var parts []inherited
	certain, shift, of := int64(0), int64(0), w.at.Partition
	for need := stream.RepeatWindow - next; need > 0; {
		parent, cut, ok := layout.Cut(of)
		if !ok {
			break
		}
		shift -= cut
		from := max(held[parent].From, cut-need)
		parts = append(parts, inherited{parent, kafka.Range{From: from, To: cut}, shift})
		if from > max(0, cut-need) {
			certain = max(0, from+shift+stream.RepeatWindow)
			break
		}
		need -= cut
		of = parent
	}
	window := stream.NewWindow(stream.RepeatWindow)
	for _, part := range slices.Backward(parts) {
		err := kafka.ReadRange(ctx, w.options, w.stream.Topic, part.partition, part.offsets, func(r *kgo.Record) error {
			if d, err := w.builder.decoder.Decode(r.Value); err == nil {
				window.Repeats(d.Identity, r.Offset+part.shift)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	w.builder.window, w.builder.certain = window, max(w.builder.certain, certain)
	return nil
}

// recordCut records the cut that the block ends with, now that everything below it is stored.
func (w *worker) recordCut(ctx context.Context) bool {
	c := w.block.cut
	if c.partitions == w.divided { // another record that says the same
		return true
	}
	ok := w.retry(ctx, "record the cut of this partition", func() error {
		return w.ledger.RecordCut(ctx, w.at.TopicID, w.at.Partition, c.partitions, c.offset)
	})
	if ok {
		w.divided = c.partitions
		w.log.Info("the partition's keys are divided with its child", "partitions", c.partitions, "cut_offset", c.offset)
	}
	return ok
}

// sendStrays writes the block's records of keys that are another partition's to its log. They come before the insert: once the block is
// stored, its records are not read again. Another copy is a repeat.
func (w *worker) sendStrays(ctx context.Context) bool {
	return w.retry(ctx, "pass records on to the partition of their keys", func() error {
		records := make([]*kgo.Record, len(w.block.strays))
		for i, s := range w.block.strays {
			records[i] = &kgo.Record{Topic: w.stream.Topic, Partition: s.to, Key: s.record.Key, Value: event.MarkSpooled(slices.Clone(s.record.Value))}
		}
		if err := produce(ctx, w.cl, records...); err != nil {
			w.cl.ForceMetadataRefresh() // it may not know of a partition yet
			return fmt.Errorf("pass records on: %w", err)
		}
		return nil
	})
}

// grows takes a record that says that the number of partitions has grown into account. It returns the cut of this partition: where it
// learnt of that number first, or nil if that was recorded long ago. 0 partitions: the record says no number.
func (f *blockBuilder) grows(r *kgo.Record, partitions int) *cut {
	switch {
	case int(f.at.Partition) >= partitions/2 || partitions < f.partitions: // not for this partition, or of an earlier doubling
		return nil
	case partitions > f.partitions:
		f.partitions, f.learntAt = partitions, r.Offset
	case f.learntAt == noCut:
		return nil
	}
	return &cut{partitions, f.learntAt}
}

// noCut says that the number of partitions was known when the assignment began.
const noCut = -1

// strayTo returns the partition of the record's key, if that is another one. A record that was not decoded stays where it is.
func (f *blockBuilder) strayTo(r *kgo.Record, decoded error) (to int32, ok bool) {
	if f.partitions == 0 || len(r.Key) == 0 || decoded != nil {
		return 0, false
	}
	to = f.hash.Of(r.Key, f.partitions)
	return to, to != f.at.Partition
}

// decode decodes the record, unless it is one by which the number of partitions grows.
func (f *blockBuilder) decode(r *kgo.Record, grows bool) (stream.Record, error) {
	if grows {
		return stream.Record{}, errNoEvent
	}
	return f.decoder.Decode(r.Value) //nolint:wrapcheck // the builder handles it
}

var errNoEvent = errors.New("no event")
