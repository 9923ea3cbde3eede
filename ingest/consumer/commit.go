package consumer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// consumerGroup keeps commits for one membership of the Kafka consumer group. The client sends one
// request at a time and waits for its answer.
type consumerGroup struct{ client *kgo.Client }

// commit implements group. A commit whose outcome is unknown may be repeated. Once another consumer
// owns a partition Kafka refuses every commit of it, and the client takes the assignment away.
func (g consumerGroup) commit(ctx context.Context, commits []commit) (err error) {
	offsets, of := map[string]map[int32]kgo.EpochOffset{}, make(map[assignment]commit, len(commits))
	for _, c := range commits {
		a := c.of.assignment
		of[a] = c
		if offsets[a.topic] == nil {
			offsets[a.topic] = map[int32]kgo.EpochOffset{}
		}
		offsets[a.topic][a.partition] = kgo.EpochOffset{Epoch: c.epoch, Offset: c.next}
	}
	g.client.CommitOffsetsSync(kgo.PreCommitFnContext(ctx,
		func(req *kmsg.OffsetCommitRequest) error { return complete(req, of) }), offsets,
		func(_ *kgo.Client, req *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse, failed error) {
			if failed != nil {
				err = fmt.Errorf("commit offset: %w", failed)
				return
			}
			answers := readAnswers(req, resp)
			for _, c := range commits {
				err = errors.Join(err, answers.of(c.of.assignment))
			}
		})
	return err
}

// complete adds to a request that is about to go out what each commit announces. It is the last
// look: a partition that was given back has none.
func complete(req *kmsg.OffsetCommitRequest, of map[assignment]commit) error {
	for i := range req.Topics {
		t := &req.Topics[i]
		t.Partitions = slices.DeleteFunc(t.Partitions, func(p kmsg.OffsetCommitRequestTopicPartition) bool {
			return of[assignment{t.Topic, p.Partition}].of.givenBack.Load()
		})
		for j := range t.Partitions {
			p := &t.Partitions[j]
			metadata := of[assignment{t.Topic, p.Partition}].announced.String()
			p.Metadata = &metadata
		}
	}
	req.Topics = slices.DeleteFunc(req.Topics,
		func(t kmsg.OffsetCommitRequestTopic) bool { return len(t.Partitions) == 0 })
	if len(req.Topics) == 0 {
		return errGiven
	}
	return nil
}

// errGiven says that all partitions of a request were given back.
var errGiven = errors.New("the partitions were given back")

// commitAnswers has the code of the answer to each partition's commit.
type commitAnswers map[assignment]int16

// readAnswers returns the answers of a response.
func readAnswers(req *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse) commitAnswers {
	names := make(map[[16]byte]string, len(req.Topics)) // from version 10 on, the answer has no names
	for _, t := range req.Topics {
		names[t.TopicID] = t.Topic
	}
	answers := commitAnswers{}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			answers[assignment{cmp.Or(t.Topic, names[t.TopicID]), p.Partition}] = p.ErrorCode
		}
	}
	return answers
}

// of returns what kept a partition's commit from being stored, or nil.
func (a commitAnswers) of(partition assignment) error {
	code, answered := a[partition]
	if !answered {
		return fmt.Errorf("commit offset of %s partition %d: the answer does not name it",
			partition.topic, partition.partition)
	}
	if err := kerr.ErrorForCode(code); err != nil {
		return fmt.Errorf("commit offset: %w", err)
	}
	return nil
}
