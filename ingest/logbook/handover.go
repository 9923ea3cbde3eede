package logbook

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/kafka"
	"lodestone/pkg/store"
)

// Owners returns the recorded groups of the current topics. A topic that no group has stored yet has an empty one.
func (l *Book) Owners(ctx context.Context, cl *kgo.Client) ([]Owner, error) {
	var owners []Owner
	for _, topic := range kafka.KeyedTopics() {
		id, _, err := kafka.Topic(ctx, cl, topic)
		if err != nil {
			return nil, err
		}
		group, err := l.queries().TopicGroup(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("read which consumer group stores %s: %w", topic, err)
		}
		owners = append(owners, Owner{TopicID: id, Topic: topic, Group: group})
	}
	return owners, nil
}

// HandOver records another group for the topics and gives it the committed offsets of the previous one. It fails while
// either group has a member, and changes nothing then. It may be repeated: an interrupted hand-over leaves the previous
// group recorded.
func (l *Book) HandOver(ctx context.Context, cl *kgo.Client, to string) error {
	owners, err := l.Owners(ctx, cl)
	if err != nil {
		return err
	}
	return l.pool.Transaction(ctx, func(tx pgx.Tx) error {
		q := store.New(tx)
		for _, o := range owners {
			// From here on a consumer that takes a partition waits for this transaction (Claim), so any process that stores
			// already is a member of its group.
			from, err := q.LockTopicGroup(ctx, store.LockTopicGroupParams{TopicID: o.TopicID, Topic: o.Topic, ConsumerGroup: to})
			if err != nil {
				return fmt.Errorf("lock the record of the group of %s: %w", o.Topic, err)
			}
			if from == to {
				continue
			}
			if err := RequireEmpty(ctx, cl, from, to); err != nil {
				return err
			}
			if err := copyOffsets(ctx, cl, o.Topic, from, to); err != nil {
				return err
			}
			if err := q.SetTopicGroup(ctx, store.SetTopicGroupParams{TopicID: o.TopicID, ConsumerGroup: to}); err != nil {
				return fmt.Errorf("record the group of %s: %w", o.Topic, err)
			}
		}
		return nil
	})
}

// RequireEmpty returns an error that names the first of the groups with a member.
func RequireEmpty(ctx context.Context, cl *kgo.Client, groups ...string) error {
	described, err := kadm.NewClient(cl).DescribeGroups(ctx, groups...)
	if err != nil {
		return fmt.Errorf("look for members of the consumer groups: %w", err)
	}
	for _, g := range described.Sorted() {
		if errors.Is(g.Err, kerr.GroupIDNotFound) {
			continue // no one ever joined it
		}
		if g.Err != nil {
			return fmt.Errorf("look for members of consumer group %s: %w", g.Group, g.Err)
		}
		if n := len(g.Members); n > 0 || g.State != "Empty" && g.State != "Dead" {
			return fmt.Errorf("consumer group %s is in use (state %s, %d members): stop its consumers; one that was killed leaves the group after --consumer-session-timeout", g.Group, g.State, n)
		}
	}
	return nil
}

// copyOffsets commits the offsets of one group for the topic to the other one, with the metadata of the commits.
func copyOffsets(ctx context.Context, cl *kgo.Client, topic, from, to string) error {
	admin := kadm.NewClient(cl)
	committed, err := admin.FetchOffsetsForTopics(ctx, from, topic)
	if err != nil {
		return fmt.Errorf("read the committed offsets of %s: %w", from, err)
	}
	offsets := kadm.Offsets{}
	for _, o := range committed.Sorted() {
		if o.Err != nil {
			return fmt.Errorf("read the committed offset of %s for %s partition %d: %w", from, topic, o.Partition, o.Err)
		}
		if o.At >= 0 {
			offsets.Add(o.Offset)
		}
	}
	if len(offsets) == 0 {
		return nil
	}
	if err := admin.CommitAllOffsets(ctx, to, offsets); err != nil {
		return fmt.Errorf("commit the offsets of %s for %s: %w", from, to, err)
	}
	return nil
}
