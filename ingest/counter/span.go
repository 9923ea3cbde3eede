package counter

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"lodestone/ingest/stream"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"lodestone/pkg/store"
)

// spanOffsets is the maximum number of offsets of one step, which bounds its memory and how long it
// locks counters.
const spanOffsets = 50_000

// span is a range of a partition whose events the counters do not reflect: from ≤ offset < to.
type span struct {
	topicID   uuid.UUID
	partition int32
	from, to  int64
	rowsSince time.Time // shortly before the first of its rows was stored; the year 1: not known
}

// parameters are those of a query of the span's rows.
func (s span) parameters() native.Parameters {
	return native.Parameters{
		"topic": s.topicID.String(), "partition": fmt.Sprint(s.partition), "from": fmt.Sprint(s.from), "to": fmt.Sprint(s.to),
	}
}

// lockKey is the key of the advisory lock of the partition.
func (s span) lockKey() int64 {
	hash := fnv.New64a()
	_, _ = fmt.Fprintf(hash, "counters of %s %d", s.topicID, s.partition) // a hash takes everything
	return int64(hash.Sum64())
}

// tryLock makes the partition this process's to count until the transaction ends, and reports
// whether it could.
func (s span) tryLock(ctx context.Context, tx pgx.Tx) (mine bool, err error) {
	if mine, err = store.New(tx).TryLock(ctx, s.lockKey()); err != nil {
		return false, fmt.Errorf("lock partition %d: %w", s.partition, err)
	}
	return mine, nil
}

// setProgress writes down that the span is counted.
func (s span) setProgress(ctx context.Context, q *store.Queries, rowsSince time.Time) error {
	p := store.SetCounterProgressParams{TopicID: s.topicID, Partition: s.partition, NextOffset: s.to}
	if !rowsSince.IsZero() {
		p.RowsSince = &rowsSince
	}
	if err := q.SetCounterProgress(ctx, p); err != nil {
		return fmt.Errorf("set the counters' progress: %w", err)
	}
	return nil
}

// missing returns a span for each partition that is stored further than it is counted, and the
// number of offsets in all of them.
func (c *Counter) missing(ctx context.Context, topicID uuid.UUID, committed map[int32]kadm.OffsetResponse) (todo []span, behind int64, err error) {
	counted, err := progress(ctx, store.New(c.pool.Unscoped()), topicID)
	if err != nil {
		return nil, 0, err
	}
	for partition, o := range committed {
		if o.Err != nil {
			return nil, 0, fmt.Errorf("read committed offset of partition %d: %w", partition, o.Err)
		}
		from := counted[partition]
		// Progress never decreases, so a commit for another topic of the same name would hide events of
		// this one.
		if o.At <= from || !stream.IsCommitFor(o.Metadata, topicID) {
			continue
		}
		behind += o.At - from
		todo = append(todo, span{topicID: topicID, partition: partition, from: from, to: min(o.At, from+spanOffsets)})
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
