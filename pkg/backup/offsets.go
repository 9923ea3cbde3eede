package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
)

// committed returns what the consumer groups of a copy of the events have committed. Consumers
// commit an offset when ClickHouse has every row below it.
func committed(ctx context.Context, pool *postgres.Pool, number int32, cl *kgo.Client) (all []Offset, err error) {
	groups, err := store.New(pool.Unscoped()).GroupsOnRecord(ctx, number)
	if err != nil {
		return nil, fmt.Errorf("read consumer groups: %w", err)
	}
	for _, g := range groups {
		id, _, err := kafka.Topic(ctx, cl, g.Topic)
		if errors.Is(err, kafka.ErrNoTopic) || err == nil && id != g.TopicID {
			continue // the topic is gone
		}
		if err != nil {
			return nil, err
		}
		found, err := fetch(ctx, cl, g.ConsumerGroup, g.Topic)
		if err != nil {
			return nil, err
		}
		for _, o := range found {
			if o.At >= 0 {
				all = append(all, Offset{
					Group: g.ConsumerGroup, Topic: g.Topic, TopicID: id, Partition: o.Partition, At: o.At,
					LeaderEpoch: o.LeaderEpoch, Metadata: o.Metadata,
				})
			}
		}
	}
	slices.SortFunc(all, func(a, b Offset) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return all, nil
}

func fetch(ctx context.Context, cl *kgo.Client, group, topic string) (all []kadm.Offset, err error) {
	answers, err := kadm.NewClient(cl).FetchOffsetsForTopics(ctx, group, topic)
	if errors.Is(err, kerr.GroupIDNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read committed offsets of %s: %w", topic, err)
	}
	for _, o := range answers[topic] {
		if o.Err != nil {
			return nil, fmt.Errorf("read committed offset of partition %d of %s: %w", o.Partition, topic, o.Err)
		}
		all = append(all, o.Offset)
	}
	return all, nil
}

// Rewind is where consumers begin again.
type Rewind struct {
	Partitions int
	Records    int64 // that are read again
	Expired    int64 // that Kafka has deleted since: what ClickHouse lacks of them is lost
}

// rewind sets the groups back to what they had committed at the time of the backup, as they had
// committed it: a consumer then goes on as after a crash at that time. Partitions without a commit
// begin at the start of the log.
func rewind(ctx context.Context, cl *kgo.Client, groups map[string]string, offsets []Offset) (r Rewind, err error) {
	admin := kadm.NewClient(cl)
	for topic, group := range groups {
		var of []Offset
		for _, o := range offsets {
			if o.Topic == topic {
				of = append(of, o)
			}
		}
		if err := requireNoMembers(ctx, admin, group); err != nil {
			return r, err
		}
		if err := rewindTopic(ctx, cl, group, topic, of, &r); err != nil {
			return r, fmt.Errorf("set consumer group %s back: %w", group, err)
		}
	}
	return r, nil
}

func rewindTopic(ctx context.Context, cl *kgo.Client, group, topic string, of []Offset, r *Rewind) error {
	admin := kadm.NewClient(cl)
	starts, err := admin.ListStartOffsets(ctx, topic)
	if err != nil {
		return err
	}
	ends, err := admin.ListEndOffsets(ctx, topic)
	if err != nil {
		return err
	}
	present, err := fetch(ctx, cl, group, topic)
	if err != nil {
		return err
	}
	set, remove := kadm.Offsets{}, kadm.TopicsSet{}
	for _, o := range present {
		remove.Add(topic, o.Partition)
	}
	known := map[int32]int64{}
	for _, o := range of {
		known[o.Partition] = o.At
		set.Add(kadm.Offset{Topic: topic, Partition: o.Partition, At: o.At, LeaderEpoch: o.LeaderEpoch, Metadata: o.Metadata})
		delete(remove[topic], o.Partition)
	}
	ends.Each(func(end kadm.ListedOffset) {
		start, _ := starts.Lookup(topic, end.Partition)
		from := known[end.Partition]
		r.Partitions++
		r.Expired += max(0, start.Offset-from)
		r.Records += max(0, end.Offset-max(from, start.Offset))
	})
	if len(remove[topic]) > 0 {
		if _, err := admin.DeleteOffsets(ctx, group, remove); err != nil {
			return err
		}
	}
	if len(set) == 0 {
		return nil
	}
	return admin.CommitAllOffsets(ctx, group, set)
}

func requireNoMembers(ctx context.Context, admin *kadm.Client, group string) error {
	groups, err := admin.DescribeGroups(ctx, group)
	if err != nil {
		return fmt.Errorf("look for consumers: %w", err)
	}
	if n := len(groups[group].Members); n > 0 {
		return fmt.Errorf("%w: %d consumers are in group %s: stop them first (one that was killed leaves after --consumer-session-timeout)", ErrInUse, n, group)
	}
	return nil
}

// topicGroups returns the group of a copy of the events for each topic that Kafka still has, of a
// restored database. A topic of the same name that was created since is another.
func topicGroups(ctx context.Context, pool *postgres.Pool, number int32, cl *kgo.Client) (map[string]string, error) {
	rows, err := store.New(pool.Unscoped()).GroupsOnRecord(ctx, number)
	if err != nil {
		return nil, fmt.Errorf("read consumer groups: %w", err)
	}
	groups := map[string]string{}
	for _, r := range rows {
		id, _, err := kafka.Topic(ctx, cl, r.Topic)
		if err != nil && !errors.Is(err, kafka.ErrNoTopic) {
			return nil, err
		}
		if err == nil && id == r.TopicID {
			groups[r.Topic] = r.ConsumerGroup
		}
	}
	return groups, nil
}
