package counter

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/stream"
	"lodestone/pkg/kafka"
	"lodestone/pkg/store"
)

// takeTurn reports whether it is the turn of the service's copy. It becomes so if the consumers of
// the one that counts are gone and this copy has everything that is counted.
func (c *Counter) takeTurn(ctx context.Context, client *kgo.Client, committed kadm.OffsetResponses) (bool, error) {
	q := store.New(c.pool.Unscoped())
	counts, err := q.CountingCopy(ctx)
	if err != nil {
		return false, fmt.Errorf("read which copy of the events counts: %w", err)
	}
	number := c.store.Number()
	if counts == number {
		if err := q.KeepCounting(ctx, number); err != nil {
			return false, fmt.Errorf("record which copy of the events counts: %w", err)
		}
		return true, nil
	}
	may, err := q.MayTakeCounting(ctx, number)
	if err != nil {
		return false, fmt.Errorf("read which copy of the events counts: %w", err)
	}
	if !may {
		return false, nil
	}
	for _, k := range kinds() {
		topicID, _, err := kafka.Topic(ctx, client, k.topic)
		if err != nil {
			return false, err
		}
		if has, err := hasCounted(ctx, q, topicID, committed[k.topic]); err != nil || !has {
			return false, err
		}
	}
	taken, err := q.TakeCounting(ctx, number)
	if err != nil {
		return false, fmt.Errorf("record which copy of the events counts: %w", err)
	}
	if taken > 0 {
		c.log.Info("the counters now read another copy of the events", "copy", number, "before", counts)
	}
	return taken > 0, nil
}

// hasCounted reports whether everything that is counted of a topic is stored by the commits.
func hasCounted(ctx context.Context, q *store.Queries, topicID uuid.UUID,
	committed map[int32]kadm.OffsetResponse) (bool, error) {
	counted, err := progress(ctx, q, topicID)
	if err != nil {
		return false, err
	}
	for partition, s := range counted {
		o, known := committed[partition]
		stored := known && o.Err == nil && o.At >= s.from && stream.IsCommitFor(o.Metadata, topicID)
		if s.from > 0 && !stored {
			return false, nil
		}
	}
	return true, nil
}
