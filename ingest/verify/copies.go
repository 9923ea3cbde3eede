package verify

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"lodestone/ingest/stream"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/kafka"
)

// eventCopy is a copy of the events.
type eventCopy struct {
	number int32
	conn   driver.Conn
	group  string // of the consumers that fill it
}

// bucketOffsets is how many offsets of a partition are compared by their number and a sum. Only
// those of sums that differ are read.
const bucketOffsets = 1_000_000

// bucket is a range of offsets of a partition within a month of the events.
type bucket struct {
	topicID   uuid.UUID
	partition int32
	month     uint32 // as 202611
	number    int64
}

// sum is the digest of a bucket in a copy.
type sum struct{ rows, hash uint64 }

// CompareCopies compares what the verifier's copy of the events has with what others have, by
// partition and offset, and adds the differences to the report. It leaves out what one of two has
// not stored yet, and the months before the first that both have: a copy begins where the log or
// its backup did, and months leave each copy at their own time.
//
// The group is the setting that names those of all copies.
func (v *Verifier) CompareCopies(ctx context.Context, others []clickhouse.Config, group string, report *Report) error {
	for _, other := range others {
		if err := v.compareWith(ctx, other, group, report); err != nil {
			return fmt.Errorf("compare copies %d and %d: %w", v.Copy, other.Number(), err)
		}
	}
	return nil
}

func (v *Verifier) compareWith(ctx context.Context, c clickhouse.Config, group string, report *Report) (err error) {
	conn, err := clickhouse.Open(c, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	own, other := eventCopy{v.Copy, v.Conn, v.Group}, eventCopy{c.Number(), conn, c.Group(group)}
	for _, s := range stream.All() {
		rows, err := v.compareCopy(ctx, s, own, other, report)
		if err != nil {
			return err
		}
		report.Copies = append(report.Copies, ComparedCopy{s.Topic, own.number, other.number, rows})
	}
	return nil
}

func (v *Verifier) compareCopy(ctx context.Context, s stream.Stream, a, b eventCopy,
	report *Report) (rows uint64, err error) {
	both, err := v.stored(ctx, s, a, b)
	if err != nil {
		return 0, err
	}
	ofA, err := a.sums(ctx, s, both)
	if err != nil {
		return 0, err
	}
	ofB, err := b.sums(ctx, s, both)
	if err != nil {
		return 0, err
	}
	first := max(firstMonth(ofA), firstMonth(ofB))
	all := maps.Clone(ofA)
	maps.Copy(all, ofB)
	for at := range all {
		if at.month < first {
			continue
		}
		rows += ofA[at].rows
		if ofA[at] == ofB[at] {
			continue
		}
		if err := compareBucket(ctx, s, a, b, at, both, report); err != nil {
			return 0, err
		}
	}
	return rows, nil
}

// done says of the partitions of a topic below which offset everything is stored in both copies.
// Topics that are gone are stored.
type done struct {
	topicID uuid.UUID
	offsets map[int32]int64
}

func (v *Verifier) stored(ctx context.Context, s stream.Stream, a, b eventCopy) (d done, err error) {
	id, _, err := kafka.Topic(ctx, v.Client, s.Topic)
	if errors.Is(err, kafka.ErrNoTopic) {
		return done{}, nil
	}
	if err != nil {
		return done{}, err
	}
	ofA, err := stream.Committed(ctx, v.Client, a.group, s.Topic, id)
	if err != nil {
		return done{}, err
	}
	ofB, err := stream.Committed(ctx, v.Client, b.group, s.Topic, id)
	if err != nil {
		return done{}, err
	}
	d = done{id, map[int32]int64{}}
	for partition, next := range ofA {
		d.offsets[partition] = min(next, ofB[partition])
	}
	return d, nil
}

// where returns the condition that a row is stored in both copies, and its parameters.
func (d done) where() (condition string, p native.Parameters) {
	var partitions, offsets []string
	for partition, next := range d.offsets {
		partitions, offsets = append(partitions, fmt.Sprint(partition)), append(offsets, fmt.Sprint(next))
	}
	return "(kafka_topic_id != {topic:UUID} OR kafka_offset < transform(kafka_partition, {partitions:Array(Int32)}, {offsets:Array(Int64)}, toInt64(0)))",
		native.Parameters{"topic": d.topicID.String(), "partitions": "[" + strings.Join(partitions, ",") + "]",
			"offsets": "[" + strings.Join(offsets, ",") + "]"}
}

// sums returns what a copy has of each bucket.
func (c eventCopy) sums(ctx context.Context, s stream.Stream, both done) (map[bucket]sum, error) {
	condition, p := both.where()
	rows, err := c.conn.Query(native.Context(ctx, native.WithParameters(p)), fmt.Sprintf(
		"SELECT kafka_topic_id, kafka_partition, toYYYYMM(created_at) AS month, intDiv(kafka_offset, %d) AS bucket, count(), groupBitXor(cityHash64(kafka_offset, event_id))"+
			" FROM lodestone.%s WHERE %s GROUP BY kafka_topic_id, kafka_partition, month, bucket",
		bucketOffsets, s.Table, condition))
	if err != nil {
		return nil, fmt.Errorf("sum up copy %d: %w", c.number, err)
	}
	all := map[bucket]sum{}
	for rows.Next() {
		var at bucket
		var is sum
		if err = rows.Scan(&at.topicID, &at.partition, &at.month, &at.number, &is.rows, &is.hash); err != nil {
			break
		}
		all[at] = is
	}
	if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return nil, fmt.Errorf("sum up copy %d: %w", c.number, err)
	}
	return all, nil
}

// firstMonth returns the month of the oldest event of a copy, 0 if it has none.
func firstMonth(of map[bucket]sum) (month uint32) {
	for at := range of {
		if month == 0 || at.month < month {
			month = at.month
		}
	}
	return month
}

// events returns the events of a bucket by their offsets, each as a hash, and how often an offset
// is stored.
func (c eventCopy) events(ctx context.Context, s stream.Stream, at bucket,
	both done) (events map[int64]sum, err error) {
	condition, p := both.where()
	p["bucket_topic"], p["partition"], p["month"] = at.topicID.String(), fmt.Sprint(at.partition), fmt.Sprint(at.month)
	p["from"], p["to"] = fmt.Sprint(at.number*bucketOffsets), fmt.Sprint((at.number+1)*bucketOffsets)
	rows, err := c.conn.Query(native.Context(ctx, native.WithParameters(p)),
		"SELECT kafka_offset, count(), groupBitXor(cityHash64(event_id)) FROM lodestone."+s.Table+
			" WHERE kafka_topic_id = {bucket_topic:UUID} AND kafka_partition = {partition:Int32} AND kafka_offset >= {from:Int64} AND kafka_offset < {to:Int64}"+
			" AND toYYYYMM(created_at) = {month:UInt32} AND "+condition+" GROUP BY kafka_offset")
	if err != nil {
		return nil, fmt.Errorf("read copy %d: %w", c.number, err)
	}
	events = map[int64]sum{}
	for rows.Next() {
		var offset int64
		var is sum
		if err = rows.Scan(&offset, &is.rows, &is.hash); err != nil {
			break
		}
		events[offset] = is
	}
	if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return nil, fmt.Errorf("read copy %d: %w", c.number, err)
	}
	return events, nil
}

// compareBucket adds the offsets of a bucket at which two copies differ to the report.
func compareBucket(ctx context.Context, s stream.Stream, a, b eventCopy, at bucket, both done, report *Report) error {
	ofA, err := a.events(ctx, s, at, both)
	if err != nil {
		return err
	}
	ofB, err := b.events(ctx, s, at, both)
	if err != nil {
		return err
	}
	all := maps.Clone(ofA)
	maps.Copy(all, ofB)
	for _, offset := range slices.Sorted(maps.Keys(all)) {
		inA, inB := ofA[offset], ofB[offset]
		var text string
		switch {
		case inA == inB:
			continue
		case inB.rows == 0:
			text = fmt.Sprintf("copy %d has the event, and copy %d has not", a.number, b.number)
		case inA.rows == 0:
			text = fmt.Sprintf("copy %d has the event, and copy %d has not", b.number, a.number)
		case inA.rows != inB.rows:
			text = fmt.Sprintf("copies %d and %d have the event %d and %d times", a.number, b.number, inA.rows, inB.rows)
		default:
			text = fmt.Sprintf("copies %d and %d have different events there", a.number, b.number)
		}
		report.add(Difference{
			Kind: Apart, Topic: s.Topic, TopicID: at.topicID, Partition: at.partition,
			Offsets: kafka.Range{From: offset, To: offset + 1}, Count: 1, Text: text,
		})
	}
	return nil
}
