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
	// before is until when, by the server's clock, an insert from next on may begin; zero: none is
	// announced.
	before time.Time
	// certain is below which repeats are looked for in ClickHouse, since a part of the window expired;
	// 0: nothing expired.
	certain int64

	committed int64 // every offset below was done; noCommit: the group has no commit
	expired   bool  // the log begins after that: Kafka deleted records before they were read

	partitions int  // of the topic, that keys are distributed over
	successor  bool // an earlier topic had its name
}

// noEpoch says that the leader's epoch is not known.
const noEpoch = -1

// noCommit says that there is no committed offset.
const noCommit = -1

// readPositions returns where each of the partitions goes on. Offset and metadata come from one
// answer of the group's coordinator, so they belong together. Partitions that have to stand still
// are in out instead, with the reason.
//
//nolint:cyclop // the cases exclude each other and are read from top to bottom
func readPositions(ctx context.Context, cl *kgo.Client, group, topic string, partitions []int32,
	ledger kafka.PartitionLedger,
) (
	positions map[int32]position, out map[int32]error, err error,
) {
	topicID, present, err := kafka.Topic(ctx, cl, topic)
	if err != nil {
		return nil, nil, err
	}
	admin := kadm.NewClient(cl)
	commits, err := admin.FetchOffsetsForTopics(ctx, group, topic)
	if err != nil {
		return nil, nil, fmt.Errorf("read committed offsets of %s: %w", topic, err)
	}
	starts, err := admin.ListStartOffsets(ctx, topic)
	if err == nil {
		err = starts.Error()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read start of %s: %w", topic, err)
	}
	ends, err := admin.ListEndOffsets(ctx, topic)
	if err == nil {
		err = ends.Error()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read end of %s: %w", topic, err)
	}
	epochs, err := stream.EpochEnds(ctx, admin, topic, partitions, commits, topicID)
	if err != nil {
		return nil, nil, err
	}
	recorded, err := ledger.Partitions(ctx, topicID, topic, present)
	if err != nil {
		return nil, nil, err
	}
	positions, out = make(map[int32]position, len(partitions)), map[int32]error{}
	for _, partition := range partitions {
		start, startOK := starts.Lookup(topic, partition)
		end, endOK := ends.Lookup(topic, partition)
		commit, commitOK := commits.Lookup(topic, partition)
		if commitOK && commit.Err != nil {
			return nil, nil, fmt.Errorf("read committed offset of %s partition %d: %w", topic, partition, commit.Err)
		}
		if !startOK || !endOK {
			return nil, nil, fmt.Errorf("read range of %s partition %d: no answer", topic, partition)
		}
		p := position{topicID: topicID, partitions: recorded, next: start.Offset, epoch: noEpoch, committed: noCommit}
		announced := stream.Announcement{Last: stream.NoIntent}
		// Another commit is for a topic that is gone.
		if commitOK && commit.At >= 0 && stream.IsCommitFor(commit.Metadata, topicID) {
			p.next, p.epoch, p.committed = commit.At, commit.LeaderEpoch, commit.At
			announced, _ = stream.ParseCommit(commit.Metadata)
		}
		// At the start of the log, the last record that is done has expired.
		if past, known := epochs[partition]; known && past < p.next && p.next > start.Offset {
			out[partition] = &epochError{topic, partition, p.next, p.epoch, past}
			continue
		}
		if p.next > end.Offset {
			out[partition] = &rangeError{topic, partition, p.next, start.Offset, end.Offset}
			continue
		}
		if announced.Last >= end.Offset { // the log lost its end while a batch from there was under way
			out[partition] = &rangeError{topic, partition, announced.Last, start.Offset, end.Offset}
			continue
		}
		if announced.Last >= p.next {
			if announced.Rules > stream.BlockRules {
				out[partition] = &newerError{p.next, fmt.Errorf("range of rules %d, this build knows up to %d",
					announced.Rules, stream.BlockRules)}
				continue
			}
			p.before = announced.Before
		}
		if start.Offset > 0 && p.committed < start.Offset {
			p.expired = true
			p.next, p.epoch = start.Offset, noEpoch
		}
		p.fetch = max(start.Offset, p.next-stream.RepeatWindow)
		if p.fetch > max(0, p.next-stream.RepeatWindow) {
			p.certain = p.fetch + stream.RepeatWindow
		}
		positions[partition] = p
	}
	return positions, out, nil
}
