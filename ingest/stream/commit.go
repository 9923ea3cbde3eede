package stream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// NoIntent is the end of a range that is not announced.
const NoIntent = -1

// BlockRules is the version of what decides which records of a range become rows: decoding, the
// window of repeats, the look for spooled events. A release that changes one of these raises it. A
// range that was announced under rules up to this is read by these rules; one of newer rules is
// left to a newer consumer.
const BlockRules = 3

// Announcement is the metadata of a commit: from its offset up to Last, an insert may begin until
// the server's clock shows Before.
type Announcement struct {
	Rules   int
	TopicID uuid.UUID // of the log; a deleted topic may have had the same name
	Last    int64     // NoIntent: nothing is announced
	Before  time.Time // in milliseconds
}

// String returns the metadata.
func (a Announcement) String() string {
	before := int64(0)
	if a.Last != NoIntent {
		before = a.Before.UnixMilli()
	}
	return fmt.Sprintf("%d %s %d %d", a.Rules, a.TopicID, a.Last, before)
}

// ParseCommit reads a commit's metadata. Commits of other tools have none that we know:
// those announce nothing, and are taken to be for the topic that is there.
func ParseCommit(text string) (a Announcement, known bool) {
	var id string
	var before int64
	n, err := fmt.Sscanf(text, "%d %s %d %d", &a.Rules, &id, &a.Last, &before)
	if err != nil || n != 4 || a.Rules < 1 {
		return Announcement{Last: NoIntent}, false
	}
	if a.TopicID, err = uuid.Parse(id); err != nil {
		return Announcement{Last: NoIntent}, false
	}
	a.Before = time.UnixMilli(before)
	return a, true
}

// IsCommitFor reports whether a commit with the metadata is one for the topic with the id, not for
// a topic that had the same name before. A commit by another tool has no metadata and counts for
// any.
func IsCommitFor(metadata string, id uuid.UUID) bool {
	of, known := ParseCommit(metadata)
	return !known || of.TopicID == id
}

// coordinatorTimeout bounds the wait for a group's coordinator: a new cluster makes it when it is
// first asked for.
const coordinatorTimeout = time.Minute

// Committed returns the offset of each partition of the topic with the id below which the group has
// done everything. Partitions without a commit are not in it, nor are commits for a topic that had
// the same name before.
func Committed(ctx context.Context, cl *kgo.Client, group, topic string, id uuid.UUID) (map[int32]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, coordinatorTimeout)
	defer cancel()
	for {
		commits, err := kadm.NewClient(cl).FetchOffsetsForTopics(ctx, group, topic)
		if errors.Is(err, kerr.GroupIDNotFound) {
			return nil, nil // nothing has been stored yet
		}
		done := map[int32]int64{}
		for partition, o := range commits[topic] {
			err = errors.Join(err, o.Err)
			if o.At >= 0 && IsCommitFor(o.Metadata, id) {
				done[partition] = o.At
			}
		}
		if err == nil {
			return done, nil
		}
		if !kerr.IsRetriable(err) {
			return nil, fmt.Errorf("read committed offsets of %s: %w", topic, err)
		}
		timer := time.NewTimer(100 * time.Millisecond)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, fmt.Errorf("read committed offsets of %s: %w", topic, err)
		}
	}
}

// EpochEnds returns where the epoch of each partition's commit ends in the log: a complete log has
// all records below the commit, so the epoch of the last of them ends at the commit or later.
// Partitions whose commit has no epoch are left out.
func EpochEnds(ctx context.Context, admin *kadm.Client, topic string, partitions []int32, commits kadm.OffsetResponses,
	topicID uuid.UUID) (map[int32]int64, error) {
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
