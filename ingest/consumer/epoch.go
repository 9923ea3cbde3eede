package consumer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// epochError says that the log has fewer records of a leader's epoch than are done: it lost its end, and may have grown
// past that again under another leader.
type epochError struct {
	topic     string
	partition int32
	next      int64
	epoch     int32
	past      int64 // where the epoch ends; -1: the log has no record of this epoch or a later one
}

func (e *epochError) Error() string {
	what := fmt.Sprintf("ends at %d", e.past)
	if e.past < 0 {
		what = "is not in the log any more"
	}
	return fmt.Sprintf("%s partition %d goes on at offset %d, which was read in the leader epoch %d, but that %s: Kafka lost records that it had "+
		"acknowledged; see \"The log lost its end\" in docs/operations.md", e.topic, e.partition, e.next, e.epoch, what)
}

// epochEnds returns where the epoch of each partition's commit ends in the log: a log that is whole has all records
// below the commit, so the epoch of the last of them ends at the commit or later. Partitions whose commit has no epoch
// are left out.
func epochEnds(ctx context.Context, admin *kadm.Client, topic string, partitions []int32, commits kadm.OffsetResponses, topicID uuid.UUID) (map[int32]int64, error) {
	var asked kadm.OffsetForLeaderEpochRequest
	for _, partition := range partitions {
		c, ok := commits.Lookup(topic, partition)
		if ok && c.Err == nil && c.At > 0 && c.LeaderEpoch >= 0 && IsCommitFor(c.Metadata, topicID) {
			asked.Add(topic, partition, c.LeaderEpoch)
		}
	}
	if len(asked) == 0 {
		return nil, nil
	}
	answers, err := admin.OffsetForLeaderEpoch(ctx, asked)
	if err != nil {
		return nil, fmt.Errorf("read ends of leader epochs of %s: %w", topic, err)
	}
	topics, err := admin.ListTopics(ctx, topic)
	if err != nil {
		return nil, fmt.Errorf("read leader epochs of %s: %w", topic, err)
	}
	past := map[int32]int64{}
	for partition, epoch := range asked[topic] {
		answer, ok := answers[topic][partition]
		if !ok {
			return nil, fmt.Errorf("read end of the leader epoch of %s partition %d: no answer", topic, partition)
		}
		if answer.Err != nil {
			return nil, fmt.Errorf("read end of the leader epoch of %s partition %d: %w", topic, partition, answer.Err)
		}
		if answer.EndOffset < 0 && topics[topic].Partitions[partition].LeaderEpoch >= epoch {
			continue // the embedded Kafka does not know where an epoch ended that was followed by no record
		}
		past[partition] = answer.EndOffset
	}
	return past, nil
}

// EpochCuts returns where the log was cut off below the commits of the group for the topic with the id, by partition, as the
// leader epochs of the commits show; 0 if only that is known that it was. Partitions of which they show nothing are left out.
func EpochCuts(ctx context.Context, cl *kgo.Client, group, topic string, id uuid.UUID) (map[int32]int64, error) {
	admin := kadm.NewClient(cl)
	commits, err := admin.FetchOffsetsForTopics(ctx, group, topic)
	if errors.Is(err, kerr.GroupIDNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read committed offsets of %s: %w", topic, err)
	}
	cuts, err := epochEnds(ctx, admin, topic, slices.Collect(maps.Keys(commits[topic])), commits, id)
	if err != nil {
		return nil, err
	}
	for partition, past := range cuts {
		if past >= commits[topic][partition].At {
			delete(cuts, partition)
			continue
		}
		cuts[partition] = max(past, 0)
	}
	return cuts, nil
}
