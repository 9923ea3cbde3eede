package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// readRecords is how many records ReadRange holds at a time.
const readRecords = 10_000

// Range is a range of offsets of one partition: From ≤ offset < To.
type Range struct{ From, To int64 }

// Empty reports whether there is no offset in the range.
func (r Range) Empty() bool { return r.From >= r.To }

// Ranges returns the current range of offsets of each partition of a topic.
func Ranges(ctx context.Context, cl *kgo.Client, topic string) (map[int32]Range, error) {
	admin := kadm.NewClient(cl)
	starts, err := admin.ListStartOffsets(ctx, topic)
	if err == nil {
		err = starts.Error()
	}
	if err != nil {
		return nil, fmt.Errorf("read start of %s: %w", topic, err)
	}
	ends, err := admin.ListEndOffsets(ctx, topic)
	if err == nil {
		err = ends.Error()
	}
	if err != nil {
		return nil, fmt.Errorf("read end of %s: %w", topic, err)
	}
	ranges := make(map[int32]Range, len(starts[topic]))
	for partition, start := range starts[topic] {
		end, ok := ends.Lookup(topic, partition)
		if !ok {
			return nil, fmt.Errorf("read end of %s partition %d: no answer", topic, partition)
		}
		ranges[partition] = Range{start.Offset, end.Offset}
	}
	return ranges, nil
}

// ErrExpired is wrapped by the error of ReadRange about a range whose beginning is not in the log
// any more.
var ErrExpired = errors.New("the log no longer has the beginning of the range")

// ReadRange calls fn with the records of a partition whose offsets are in the range, in order. It
// joins no group and commits no offsets. The range must end at or before the log's end. It returns
// the error of fn, or the reason why the log could not be read.
func ReadRange(ctx context.Context, options []kgo.Opt, topic string, partition int32, r Range,
	fn func(*kgo.Record) error) error {
	if r.Empty() {
		return nil
	}
	cl, err := kgo.NewClient(append(slices.Clip(options),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {partition: kgo.NewOffset().At(r.From)}}),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()),
		kgo.KeepControlRecords(), // so that every offset shows how far reading has come
		kgo.FetchMaxPartitionBytes(4<<20),
		kgo.FetchMaxBytes(4<<20),
	)...)
	if err != nil {
		return fmt.Errorf("make Kafka client: %w", err)
	}
	defer cl.Close()
	for next := r.From; next < r.To; {
		fetches := cl.PollRecords(ctx, readRecords)
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("read %s partition %d: %w", topic, partition, context.Cause(ctx))
		}
		for _, e := range fetches.Errors() {
			if errors.Is(e.Err, kerr.OffsetOutOfRange) {
				return fmt.Errorf("read %s partition %d from offset %d: %w", topic, partition, next, ErrExpired)
			}
			if !kerr.IsRetriable(e.Err) {
				return fmt.Errorf("read %s partition %d: %w", topic, partition, e.Err)
			}
		}
		for it := fetches.RecordIter(); !it.Done(); {
			record := it.Next()
			next = record.Offset + 1
			if record.Offset >= r.To {
				break
			}
			if record.Attrs.IsControl() {
				continue
			}
			if err := fn(record); err != nil {
				return err
			}
		}
	}
	return nil
}
