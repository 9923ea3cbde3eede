package counter

import (
	"context"
	"errors"
	"fmt"

	"lodestone/ingest/stream"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
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
	progress, err := c.progress(ctx, topicID)
	if err != nil {
		return nil, 0, err
	}
	for partition, end := range stored {
		from := progress[partition]
		if end <= from {
			continue
		}
		behind += end - from
		todo = append(todo, span{topicID, partition, from, min(end, from+spanOffsets)})
	}
	return todo, behind, nil
}

// progress returns, for each partition, the offset below which everything is counted.
func (c *Counter) progress(ctx context.Context, topicID uuid.UUID) (map[int32]int64, error) {
	rows, err := c.pool.Unscoped().Query(ctx, "SELECT partition, next_offset FROM counter_progress WHERE topic_id = $1", topicID)
	if err != nil {
		return nil, fmt.Errorf("read the counters' progress: %w", err)
	}
	progress := map[int32]int64{}
	var partition int32
	var next int64
	if _, err := pgx.ForEachRow(rows, []any{&partition, &next}, func() error { progress[partition] = next; return nil }); err != nil {
		return nil, fmt.Errorf("read the counters' progress: %w", err)
	}
	return progress, nil
}

// progressOf returns the progress of one partition, as the transaction sees it.
func progressOf(ctx context.Context, tx pgx.Tx, topicID uuid.UUID, partition int32) (next int64, err error) {
	err = tx.QueryRow(ctx, "SELECT next_offset FROM counter_progress WHERE topic_id = $1 AND partition = $2", topicID, partition).Scan(&next)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return 0, fmt.Errorf("read the counters' progress: %w", err)
	}
	return next, nil
}

func isNoGroup(err error) bool { return errors.Is(err, kerr.GroupIDNotFound) }
