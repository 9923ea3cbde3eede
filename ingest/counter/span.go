package counter

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
)

// spanOffsets is how many offsets one step covers at the most, which bounds its memory and the
// time that it holds the lock.
const spanOffsets = 200_000

// span is a range of a partition whose events the counters do not reflect: from ≤ offset < to.
type span struct {
	topicID   uuid.UUID
	partition int32
	from, to  int64
}

// missing returns a span for each partition that has one, and how many offsets are behind in all.
func (c *Counter) missing(ctx context.Context, topicID uuid.UUID, committed map[int32]kadm.OffsetResponse) (todo []span, behind int64, err error) {
	progress, err := c.progress(ctx, topicID)
	if err != nil {
		return nil, 0, err
	}
	for partition, o := range committed {
		if o.Err != nil {
			return nil, 0, fmt.Errorf("read committed offset of partition %d: %w", partition, o.Err)
		}
		from := progress[partition]
		if o.At <= from {
			continue
		}
		behind += o.At - from
		todo = append(todo, span{topicID, partition, from, min(o.At, from+spanOffsets)})
	}
	return todo, behind, nil
}

// progress returns, for each partition, the offset that everything below is counted of.
func (c *Counter) progress(ctx context.Context, topicID uuid.UUID) (map[int32]int64, error) {
	rows, err := c.pool.Unscoped().Query(ctx, "SELECT partition, next_offset FROM counter_progress WHERE topic_id = $1", topicID)
	if err != nil {
		return nil, fmt.Errorf("read the counters' progress: %w", err)
	}
	defer rows.Close()
	progress := map[int32]int64{}
	for rows.Next() {
		var partition int32
		var next int64
		if err := rows.Scan(&partition, &next); err != nil {
			return nil, fmt.Errorf("read the counters' progress: %w", err)
		}
		progress[partition] = next
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read the counters' progress: %w", err)
	}
	return progress, nil
}

func isNoGroup(err error) bool { return errors.Is(err, kerr.GroupIDNotFound) }
