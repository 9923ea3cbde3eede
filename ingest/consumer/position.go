package consumer

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/kafka"
)

// noIntent says that no block is announced.
const noIntent = -1

// position is where a partition's work goes on.
type position struct {
	topicID uuid.UUID
	next    int64 // every offset below is done
	intent  int64 // the block [next, intent] may be stored already; or noIntent
	fetch   int64 // where reading begins: before next, to fill the window of repeats
}

// metadata is what a commit says besides the offset: a format number, the topic's id and the end
// of the announced block. The id tells a commit for a deleted topic of the same name.
func metadata(topicID uuid.UUID, intent int64) string {
	return "1 " + topicID.String() + " " + strconv.FormatInt(intent, 10)
}

// parseMetadata reads a commit's metadata. Commits made by other tools have none that we know:
// those announce nothing, and are taken to be for the topic that is there.
func parseMetadata(text string) (topicID uuid.UUID, intent int64, known bool) {
	parts := strings.Fields(text)
	if len(parts) != 3 || parts[0] != "1" {
		return uuid.Nil, noIntent, false
	}
	topicID, idErr := uuid.Parse(parts[1])
	intent, intentErr := strconv.ParseInt(parts[2], 10, 64)
	if idErr != nil || intentErr != nil {
		return uuid.Nil, noIntent, false
	}
	return topicID, intent, true
}

// rangeError says that a committed offset lies outside the log: records are gone that nobody
// stored, or the log lost its end. Going on would hide that, so the partition stands still.
type rangeError struct {
	topic             string
	partition         int32
	next, start, past int64
}

func (e *rangeError) Error() string {
	return fmt.Sprintf("%s partition %d goes on at offset %d, but the log holds %d to %d: records were lost; "+
		"after looking into it, set the group's offset for this partition to where reading is to go on",
		e.topic, e.partition, e.next, e.start, e.past-1)
}

// readPositions returns where each of the partitions goes on. Offset and metadata come from one
// answer of the group's coordinator, so they belong together. Partitions whose commit lies outside
// the log are in out instead.
func readPositions(ctx context.Context, cl *kgo.Client, group, topic string, partitions []int32) (
	positions map[int32]position, out []*rangeError, err error,
) {
	topicID, _, err := kafka.Topic(ctx, cl, topic)
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
	positions = make(map[int32]position, len(partitions))
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
		p := position{topicID: topicID, next: start.Offset, intent: noIntent}
		if commitOK && commit.At >= 0 {
			id, intent, known := parseMetadata(commit.Metadata)
			if !known || id == topicID { // else the commit is for a topic that is gone
				p.next, p.intent = commit.At, intent
			}
		}
		if p.next < start.Offset || p.next > end.Offset {
			out = append(out, &rangeError{topic, partition, p.next, start.Offset, end.Offset})
			continue
		}
		if p.intent >= end.Offset { // the log lost its end while a block from there was under way
			out = append(out, &rangeError{topic, partition, p.intent, start.Offset, end.Offset})
			continue
		}
		if p.intent < p.next {
			p.intent = noIntent
		}
		p.fetch = max(start.Offset, p.next-repeatWindow)
		positions[partition] = p
	}
	return positions, out, nil
}
