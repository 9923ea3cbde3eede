package counter

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"lodestone/ingest/stream"
	"lodestone/pkg/clickhouse"
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

// lockKey is the key of the advisory lock of the partition.
func (s span) lockKey() int64 {
	hash := fnv.New64a()
	_, _ = fmt.Fprintf(hash, "counters of %s %d", s.topicID, s.partition) // a hash takes everything
	return int64(hash.Sum64())
}

// spans are spans of one topic, of a partition each, that are counted together.
type spans []span

// sinceApart is how far apart the rows of spans may have been stored that are read together.
const sinceApart = 10 * time.Second

// together groups the spans. One statement reads each group.
func together(all []span) (groups []spans) {
	slices.SortFunc(all, func(a, b span) int { return a.rowsSince.Compare(b.rowsSince) })
	offsets := int64(0)
	for _, s := range all {
		last := len(groups) - 1
		if last < 0 || offsets+s.to-s.from > spanOffsets || len(groups[last]) == stream.SpansAtOnce ||
			s.rowsSince.Sub(groups[last][0].rowsSince) > sinceApart {
			groups, offsets = append(groups, spans{}), 0
			last++
		}
		groups[last], offsets = append(groups[last], s), offsets+s.to-s.from
	}
	return groups
}

// where returns the condition that a row is in one of the spans, and its parameters.
func (g spans) where() (condition string, p native.Parameters) {
	ranges := make([]stream.Span, len(g))
	for i, s := range g {
		ranges[i] = stream.Span{Partition: s.partition, First: s.from, Last: s.to - 1}
	}
	condition, values := stream.Where(g[0].topicID, ranges)
	p = make(native.Parameters, len(values))
	for name, value := range values {
		p[name] = fmt.Sprint(value)
	}
	return condition, p
}

// lock makes the partitions this process's to count until the transaction ends, and returns the
// spans of those that it could have, and that are counted up to where they begin.
func (g spans) lock(ctx context.Context, q *store.Queries) (mine spans, err error) {
	keys := make([]int64, len(g))
	for i, s := range g {
		keys[i] = s.lockKey()
	}
	locked, err := q.TryLocks(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("lock partitions: %w", err)
	}
	at, err := progress(ctx, q, g[0].topicID)
	if err != nil {
		return nil, err
	}
	for _, s := range g {
		if slices.Contains(locked, s.lockKey()) && at[s.partition].from == s.from {
			s.rowsSince = at[s.partition].rowsSince
			mine = append(mine, s)
		}
	}
	return mine, nil
}

// setProgress writes down that the spans are counted.
func (g spans) setProgress(ctx context.Context, q *store.Queries, rowsSince time.Time) error {
	p := store.SetCounterProgressParams{TopicID: g[0].topicID}
	for _, s := range g {
		p.Partitions, p.NextOffsets = append(p.Partitions, s.partition), append(p.NextOffsets, s.to)
	}
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
func (c *Counter) missing(ctx context.Context, topicID uuid.UUID, committed map[int32]kadm.OffsetResponse) (todo []span,
	behind int64, err error) {
	counted, err := progress(ctx, store.New(c.pool.Unscoped()), topicID)
	if err != nil {
		return nil, 0, err
	}
	for partition, o := range committed {
		if o.Err != nil {
			return nil, 0, fmt.Errorf("read committed offset of partition %d: %w", partition, o.Err)
		}
		s := counted[partition]
		s.topicID, s.partition = topicID, partition
		// Progress never decreases, so a commit for another topic of the same name would hide events of
		// this one.
		if o.At <= s.from || !stream.IsCommitFor(o.Metadata, topicID) {
			continue
		}
		behind += o.At - s.from
		s.to = min(o.At, s.from+spanOffsets)
		todo = append(todo, s)
	}
	return todo, behind, nil
}

// progress returns, for each partition of a topic, an empty span that begins where everything below
// is counted.
func progress(ctx context.Context, q *store.Queries, topicID uuid.UUID) (map[int32]span, error) {
	rows, err := q.CounterProgress(ctx, topicID)
	if err != nil {
		return nil, fmt.Errorf("read the counters' progress: %w", err)
	}
	next := make(map[int32]span, len(rows))
	for _, r := range rows {
		next[r.Partition] = span{topicID: topicID, partition: r.Partition, from: r.NextOffset,
			to: r.NextOffset, rowsSince: r.RowsSince}
	}
	return next, nil
}

func isNoGroup(err error) bool { return errors.Is(err, kerr.GroupIDNotFound) }

// countRows counts the rows of spans and lists their accounts, by the projection by_offset. It has
// no times, so a little of every part of the table is read.
const countRows = `SELECT count(), groupUniqArray(account_id) FROM lodestone.%s WHERE `

// search reads the rows of spans without knowing when they were stored or happened, which the
// tables are ordered by. It looks at the likely times first, and at others until it has as many
// rows as by_offset says. Conditions exclude those before.
//
// fn runs a query with two conditions, of the spans and of the time, and returns how many of the
// rows it found.
func (g spans) search(ctx context.Context, conn driver.Conn, table string, times []string,
	fn func(ctx context.Context, where, time string) (uint64, error)) error {
	since := g[0].rowsSince // the first of all, if it is known
	if since.Before(time.Unix(0, 0)) {
		since = time.Now().Add(-time.Hour)
	}
	where, p := g.where()
	p["since"] = fmt.Sprint(since.UnixMilli())
	var want, got uint64
	var accounts []uuid.UUID
	if err := conn.QueryRow(native.Context(ctx, native.WithParameters(p)),
		fmt.Sprintf(countRows, table)+where).Scan(&want, &accounts); err != nil {
		return fmt.Errorf("count new rows of %s: %w", table, err)
	}
	p["accounts"] = clickhouse.UUIDs(accounts)
	ctx = native.Context(ctx, native.WithParameters(p))
	before := ""
	for _, condition := range times {
		if got >= want {
			break
		}
		n, err := fn(ctx, where, "("+condition+")"+before)
		if err != nil {
			return fmt.Errorf("read new rows of %s: %w", table, err)
		}
		got += n
		before += " AND NOT (" + condition + ")"
	}
	if got != want {
		return fmt.Errorf("read new rows of %s: %d rows of %d partitions, but the index has %d: they change", table, got,
			len(g), want)
	}
	return nil
}

func distinct(ids []uuid.UUID) []uuid.UUID {
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(ids)
}
