package consumer

import (
	"context"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/event"
)

// A topic may have more partitions than are on record (kafka.Ledger), if someone added them in
// Kafka. Keys are distributed over the number on record. A collector that starts while Postgres is
// away goes by Kafka's number, and may write to an unused partition. Such a record is written to
// the partition of its key, marked as spooled, before the block is stored: only there are repeats
// of the event recognised.

// stray is a record of an unused partition.
type stray struct {
	record *kgo.Record
	to     int32 // partition of its key
}

// strayTo returns the partition of the record's key if this partition is not used. A record that
// was not decoded stays where it is.
func (f *blockBuilder) strayTo(r *kgo.Record, decoded error) (to int32, ok bool) {
	if f.partitions == 0 || int(f.at.Partition) < f.partitions || len(r.Key) == 0 || decoded != nil {
		return 0, false
	}
	return f.hash.Of(r.Key, f.partitions), true
}

// sendStrays writes the block's strays to the partitions of their keys. They come before the
// insert: once the block is stored, its records are not read again. Another copy is a repeat.
func (w *worker) sendStrays(ctx context.Context) bool {
	return w.retry(ctx, "pass records on to the partition of their keys", func() error {
		records := make([]*kgo.Record, len(w.block.strays))
		for i, s := range w.block.strays {
			records[i] = &kgo.Record{Topic: w.stream.Topic, Partition: s.to, Key: s.record.Key, Value: event.MarkSpooled(slices.Clone(s.record.Value))}
		}
		if err := produce(ctx, w.cl, records...); err != nil {
			return fmt.Errorf("pass records on: %w", err)
		}
		return nil
	})
}
