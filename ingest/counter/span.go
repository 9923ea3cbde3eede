package counter

import (
	"context"
	"errors"
	"fmt"

	"lodestone/ingest/stream"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"lodestone/pkg/store"
)

// spanOffsets is the maximum number of offsets of one step, which bounds its memory.
const spanOffsets = 200_000

// span is a range of a partition whose events the counters do not reflect: from ≤ offset < to.
type span struct {
	topicID   uuid.UUID
	partition int32
	from, to  int64
}

// missing returns a span for each partition with uncounted offsets, and the number of uncounted offsets in all.
func (c *Counter) missing(ctx context.Context, topicID uuid.UUID, committed map[int32]kadm.OffsetResponse) (todo []span, behind int64, err error) {
	stored := map[int32]int64{}
	for partition, o := range committed {
		if o.Err != nil {
			return nil, 0, fmt.Errorf("read committed offset of partition %d: %w", partition, o.Err)
		}
		// Progress never decreases, so a commit for another topic of the same name would hide events of this one.
		if stream.IsCommitFor(o.Metadata, topicID) {
			stored[partition] = o.At
		}
	}
	return c.uncounted(ctx, topicID, stored)
}

// uncounted returns a span for each partition that is stored further than it is counted, and the number of offsets in
// all of them.
func (c *Counter) uncounted(ctx context.Context, topicID uuid.UUID, stored map[int32]int64) (todo []span, behind int64, err error) {
	counted, err := progress(ctx, store.New(c.pool.Unscoped()), topicID)
	if err != nil {
		return nil, 0, err
	}
	for partition, end := range stored {
		from := counted[partition]
		if end <= from {
			continue
		}
		behind += end - from
		todo = append(todo, span{topicID, partition, from, min(end, from+spanOffsets)})
	}
	return todo, behind, nil
}

// progress returns, for each partition of a topic, the offset below which everything is counted.
func progress(ctx context.Context, q *store.Queries, topicID uuid.UUID) (map[int32]int64, error) {
	rows, err := q.CounterProgress(ctx, topicID)
	if err != nil {
		return nil, fmt.Errorf("read the counters' progress: %w", err)
	}
	next := make(map[int32]int64, len(rows))
	for _, r := range rows {
		next[r.Partition] = r.NextOffset
	}
	return next, nil
}

func isNoGroup(err error) bool { return errors.Is(err, kerr.GroupIDNotFound) }
