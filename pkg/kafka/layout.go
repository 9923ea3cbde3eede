package kafka

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/service"
	"lodestone/pkg/store"
)

// Layout says over how many partitions the keys of a topic are distributed, and since which offsets.
//
// The number only doubles. Then the keys of partition p are those of p and of its child p+n, which has no others. What p has from its
// cut on of keys that moved was written by a collector that did not know of the child yet: the consumer passes it on.
type Layout struct {
	Base  int             // number of partitions when the topic was new
	Count int             // number now. Partitions beyond are not used
	cuts  map[int32][]cut // of each parent
}

// cut is where the number of partitions grew.
type cut struct {
	partitions int
	offset     int64
}

// Uses reports whether the partition is used.
func (l Layout) Uses(partition int32) bool { return int(partition) < l.Count }

// Parent returns the partition of which the keys of a partition were until the topic got so many partitions. A partition that the topic
// had from the beginning has none.
func (l Layout) Parent(partition int32) (parent int32, partitions int, ok bool) {
	if !l.Uses(partition) || int(partition) < l.Base {
		return 0, 0, false
	}
	partitions = l.Base
	for partitions <= int(partition) {
		partitions *= 2
	}
	return partition - int32(partitions/2), partitions, true
}

// Shares reports whether a partition may ever have had a key that a partition of another topic has had. Where the numbers of partitions
// are not on record it may.
func (l Layout) Shares(partition int32, other Layout, of int32) bool {
	a, b := l.firstCount(partition), other.firstCount(of)
	if a == 0 || b == 0 {
		return true
	}
	for b != 0 { // a becomes what divides both
		a, b = b, a%b
	}
	return (partition-of)%a == 0
}

// firstCount returns over how many partitions keys were distributed when a partition got its first ones, 0 if that is not known.
func (l Layout) firstCount(partition int32) int32 {
	if l.Count == noLimit || !l.Uses(partition) {
		return 0
	}
	if _, partitions, ok := l.Parent(partition); ok {
		return int32(partitions)
	}
	return int32(l.Base)
}

// Cut returns where the parent of a partition stopped storing its keys. ok is false while it still stores them.
func (l Layout) Cut(child int32) (parent int32, offset int64, ok bool) {
	parent, partitions, ok := l.Parent(child)
	if !ok {
		return 0, 0, false
	}
	for _, c := range l.cuts[parent] {
		if c.partitions == partitions {
			return parent, c.offset, true
		}
	}
	return parent, 0, false
}

// CountAt returns over how many partitions the keys of the records at an offset have to be distributed; 0 if that is not checked, as the
// partition has not been grown.
func (l Layout) CountAt(partition int32, offset int64) int {
	_, count, _ := l.Parent(partition)
	for _, c := range l.cuts[partition] {
		if c.offset < offset {
			count = max(count, c.partitions)
		}
	}
	return count
}

// Waiting returns the partitions that store nothing yet, as their parents have not reached their cuts.
func (l Layout) Waiting() (children []int32) {
	for p := int32(l.Base); l.Uses(p); p++ {
		if _, _, ok := l.Cut(p); !ok {
			children = append(children, p)
		}
	}
	return children
}

// Layout returns the layout of a topic. Without a record, its partitions are those that it had from the beginning.
func (l Ledger) Layout(ctx context.Context, id uuid.UUID) (Layout, error) {
	q := store.New(l.Pool.Unscoped())
	// The cuts last: a number that is seen may then have cuts that are not, never the other way round.
	row, err := q.TopicLayout(ctx, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return Layout{Base: noLimit, Count: noLimit}, nil
	}
	if err != nil {
		return Layout{}, fmt.Errorf("read the recorded number of partitions: %w", err)
	}
	cuts, err := q.PartitionCuts(ctx, id)
	if err != nil {
		return Layout{}, fmt.Errorf("read where partitions were cut: %w", err)
	}
	layout := Layout{Base: int(row.Base), Count: int(row.Partitions), cuts: map[int32][]cut{}}
	for _, c := range cuts {
		layout.cuts[c.Partition] = append(layout.cuts[c.Partition], cut{int(c.Partitions), c.Cut})
	}
	return layout, nil
}

const noLimit = 1 << 30

// RecordCut records from which offset on a partition stores no keys of its child any more, now that everything below is stored.
func (l Ledger) RecordCut(ctx context.Context, id uuid.UUID, parent int32, partitions int, offset int64) error {
	err := store.New(l.Pool.Unscoped()).RecordCut(ctx, store.RecordCutParams{TopicID: id, Partition: parent, Partitions: int32(partitions), Cut: offset})
	if err != nil {
		return fmt.Errorf("record where a partition is cut: %w", err)
	}
	return nil
}

// ErrGrowing is wrapped by the error of Double while the last doubling is not complete.
var ErrGrowing = errors.New("the last doubling is not complete: its new partitions wait until the consumer has stored what was written before")

// Double doubles the partitions that the keys of a topic are distributed over, and returns their number. Kafka gets the partitions that
// it does not have. Collectors and consumers learn of it by themselves.
func (l Ledger) Double(ctx context.Context, cl *kgo.Client, topic string) (int, error) {
	id, present, err := Topic(ctx, cl, topic)
	if err != nil {
		return 0, err
	}
	before, err := l.Partitions(ctx, id, topic, present)
	if err != nil {
		return 0, err
	}
	layout, err := l.Layout(ctx, id)
	if err != nil {
		return 0, err
	}
	if len(layout.Waiting()) > 0 {
		return 0, fmt.Errorf("double the partitions of %s: %w", topic, ErrGrowing)
	}
	after := 2 * before
	if after > maxPartitions {
		return 0, fmt.Errorf("double the partitions of %s: it has %d, and %d is the limit", topic, before, maxPartitions)
	}
	if present < after {
		responses, err := kadm.NewClient(cl).UpdatePartitions(ctx, after, topic)
		if err == nil {
			err = responses.Error()
		}
		if err != nil {
			return 0, fmt.Errorf("add partitions to %s: %w", topic, err)
		}
	}
	for present < after { // metadata reaches the brokers one after another
		if err := service.Sleep(ctx, topicRetry); err != nil {
			return 0, fmt.Errorf("wait for the new partitions of %s: %w", topic, err)
		}
		if _, present, err = Topic(ctx, cl, topic); err != nil {
			return 0, err
		}
	}
	n, err := store.New(l.Pool.Unscoped()).DoublePartitions(ctx, store.DoublePartitionsParams{TopicID: id, Partitions: int32(before)})
	if err != nil {
		return 0, fmt.Errorf("record the number of partitions: %w", err)
	}
	if n == 0 { // another process was faster
		return 0, fmt.Errorf("double the partitions of %s: %w", topic, ErrGrowing)
	}
	return after, nil
}
