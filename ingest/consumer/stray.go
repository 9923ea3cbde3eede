package consumer

import (
	"github.com/twmb/franz-go/pkg/kgo"
)

// A topic may have more partitions than are on record (kafka.Ledger), if someone added them in
// Kafka. Keys are distributed over the number on record. A collector that starts while Postgres is
// away goes by Kafka's number, and may write to an unused partition. Such a record is written to
// the partition of its key, marked as spooled, before the batch is stored: only there are repeats
// of the event recognised.

// stray is a record of an unused partition.
type stray struct {
	record *kgo.Record
	to     int32 // partition of its key
}

// strayTo returns the partition of the record's key if this partition is not used. A record that
// was not decoded stays where it is.
func (p *partition) strayTo(r *kgo.Record, decoded error) (to int32, ok bool) {
	if p.partitions == 0 || int(p.partition) < p.partitions || len(r.Key) == 0 || decoded != nil {
		return 0, false
	}
	return p.hash.Of(r.Key, p.partitions), true
}
