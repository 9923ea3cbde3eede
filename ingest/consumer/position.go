package consumer

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/stream"
	"lodestone/pkg/kafka"
)

// position is where a partition's work goes on.
type position struct {
	topicID uuid.UUID
	next    int64 // every offset below is done
	fetch   int64 // where reading begins: before next, to fill the window of repeats
	epoch   int32 // of the leader that wrote the last record below next; -1: not known
	// insertsUntil is until when, by ClickHouse's clock, an insert that an earlier owner announced
	// from next on may begin; zero: none is announced.
	insertsUntil time.Time
	// fullWindowFrom is the first offset that has its whole window of repeats in the log. For those
	// below it, repeats are looked for in ClickHouse; 0: nothing of the window expired.
	fullWindowFrom int64

	committed int64 // every offset below was done; noCommit: the group has no commit
	expired   bool  // the log begins after committed: Kafka deleted records before they were read

	partitions int  // of the topic, that keys are distributed over
	successor  bool // an earlier topic had its name; Consumer.assign sets it
}

// noEpoch says that the leader's epoch is not known.
const noEpoch = -1

// noCommit says that there is no committed offset.
const noCommit = -1

// groupLog is what Kafka and Postgres know of a topic as one group reads it.
type groupLog struct {
	topic        string
	topicID      uuid.UUID
	starts, ends kadm.ListedOffsets
	commits      kadm.OffsetResponses
	epochEnds    map[int32]int64 // where the epoch of a partition's commit ends; none: not known
	keyed        int             // partitions that keys are distributed over
}

// readPositions returns where each of the partitions goes on. Partitions that have to stand still
// are in halted instead, with the reason.
func readPositions(ctx context.Context, cl *kgo.Client, group, topic string, partitions []int32,
	ledger kafka.PartitionLedger,
) (
	positions map[int32]position, halted map[int32]error, err error,
) {
	l, err := readGroupLog(ctx, cl, group, topic, partitions, ledger)
	if err != nil {
		return nil, nil, err
	}
	positions, halted = make(map[int32]position, len(partitions)), map[int32]error{}
	for _, partition := range partitions {
		start, startOK := l.starts.Lookup(topic, partition)
		end, endOK := l.ends.Lookup(topic, partition)
		commit, commitOK := l.commits.Lookup(topic, partition)
		if commitOK && commit.Err != nil {
			return nil, nil, fmt.Errorf("read committed offset of %s partition %d: %w", topic, partition, commit.Err)
		}
		if !startOK || !endOK {
			return nil, nil, fmt.Errorf("read range of %s partition %d: no answer", topic, partition)
		}
		p, why := l.position(partition, start.Offset, end.Offset)
		if why != nil {
			halted[partition] = why
			continue
		}
		positions[partition] = p
	}
	return positions, halted, nil
}

// readGroupLog reads the commits before the ends of the log: a commit beyond an end that is read
// later means that the log lost records. Offset and metadata of a commit come from one answer of
// the group's coordinator, so they belong together.
func readGroupLog(ctx context.Context, cl *kgo.Client, group, topic string, partitions []int32,
	ledger kafka.PartitionLedger) (*groupLog, error) {
	topicID, inKafka, err := kafka.Topic(ctx, cl, topic)
	if err != nil {
		return nil, err
	}
	l := &groupLog{topic: topic, topicID: topicID}
	admin := kadm.NewClient(cl)
	if l.commits, err = admin.FetchOffsetsForTopics(ctx, group, topic); err != nil {
		return nil, fmt.Errorf("read committed offsets of %s: %w", topic, err)
	}
	if l.starts, err = admin.ListStartOffsets(ctx, topic); err == nil {
		err = l.starts.Error()
	}
	if err != nil {
		return nil, fmt.Errorf("read start of %s: %w", topic, err)
	}
	if l.ends, err = admin.ListEndOffsets(ctx, topic); err == nil {
		err = l.ends.Error()
	}
	if err != nil {
		return nil, fmt.Errorf("read end of %s: %w", topic, err)
	}
	if l.epochEnds, err = stream.EpochEnds(ctx, admin, topic, partitions, l.commits, topicID); err != nil {
		return nil, err
	}
	if l.keyed, err = ledger.Partitions(ctx, topicID, topic, inKafka); err != nil {
		return nil, err
	}
	return l, nil
}

// position returns where a partition goes on whose log has the offsets start ≤ offset < end, or why
// it has to stand still.
func (l *groupLog) position(partition int32, start, end int64) (position, error) {
	p := position{topicID: l.topicID, partitions: l.keyed, next: start, epoch: noEpoch, committed: noCommit}
	announced := stream.Announcement{Last: stream.NoIntent}
	// Another commit is for a topic that is gone.
	commit, known := l.commits.Lookup(l.topic, partition)
	if known && commit.At >= 0 && stream.IsCommitFor(commit.Metadata, l.topicID) {
		p.next, p.epoch, p.committed = commit.At, commit.LeaderEpoch, commit.At
		announced, _ = stream.ParseCommit(commit.Metadata)
	}
	// A commit at the start of the log has no record below it that another leader may have replaced.
	if epochEnd, known := l.epochEnds[partition]; known && epochEnd < p.next && p.next > start {
		return p, &epochError{l.topic, partition, p.next, p.epoch, epochEnd}
	}
	if p.next > end {
		return p, &rangeError{l.topic, partition, p.next, start, end}
	}
	if announced.Last >= end { // the log lost its end while a batch from there was under way
		return p, &rangeError{l.topic, partition, announced.Last, start, end}
	}
	if announced.Last >= p.next {
		if announced.Rules > stream.BlockRules {
			return p, &newerError{p.next, fmt.Errorf("range of rules %d, this build knows up to %d",
				announced.Rules, stream.BlockRules)}
		}
		p.insertsUntil = announced.Before
	}
	if start > 0 && p.committed < start {
		p.expired = true
		p.next, p.epoch = start, noEpoch
	}
	p.fetch = max(start, p.next-stream.RepeatWindow)
	if p.fetch > max(0, p.next-stream.RepeatWindow) {
		p.fullWindowFrom = p.fetch + stream.RepeatWindow
	}
	return p, nil
}
