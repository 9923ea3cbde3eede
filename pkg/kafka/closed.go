package kafka

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lodestone/pkg/service"
)

// A closed topic takes no records: its max.message.bytes is smaller than any batch. So collectors
// spool, while consumers go on reading. Its min.insync.replicas could not do so: Kafka 4 takes the
// number of replicas for a higher one.
const (
	maxBytes    = "max.message.bytes"
	closedBytes = 1
	openBytes   = "1048588" // Kafka's default, for a topic that an interrupted process closed
)

const (
	refuseTry   = 500 * time.Millisecond // between two tries to find out whether a broker refuses
	refuseLimit = 30 * time.Second       // for all partitions of a topic
)

// TopicState is how a topic is.
type TopicState struct {
	Name       string
	ID         uuid.UUID // uuid.Nil: it does not exist
	Partitions int32
	Closed     bool

	replication int16
	settings    map[string]*string // its own, that are not the brokers' default
	maxBytes    *string            // max.message.bytes of its own while it is open; nil: none
}

// Exists reports whether there is such a topic.
func (s TopicState) Exists() bool { return s.ID != uuid.Nil }

// ReadTopic returns the state of a topic.
func ReadTopic(ctx context.Context, cl *kgo.Client, name string) (TopicState, error) {
	s := TopicState{Name: name, settings: map[string]*string{}}
	admin := kadm.NewClient(cl)
	topics, err := admin.ListTopics(ctx, name)
	if err == nil {
		err = topics[name].Err
	}
	if errors.Is(err, kerr.UnknownTopicOrPartition) || err == nil && !topics.Has(name) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("look up Kafka topic %s: %w", name, err)
	}
	detail := topics[name]
	s.ID, s.Partitions, s.replication = uuid.UUID(detail.ID), int32(len(detail.Partitions)), int16(replicas(detail))
	all, err := admin.DescribeTopicConfigs(ctx, name)
	if err == nil {
		_, err = settings(all, name)
	}
	if errors.Is(err, kerr.UnknownTopicOrPartition) { // it was just deleted, or made
		return TopicState{Name: name}, nil
	}
	if err != nil {
		return s, fmt.Errorf("read settings of Kafka topic %s: %w", name, err)
	}
	for _, c := range all[0].Configs {
		if c.Source == kmsg.ConfigSourceDynamicTopicConfig {
			s.settings[c.Key] = c.Value
		}
	}
	s.maxBytes = s.settings[maxBytes]
	if s.Closed = s.maxBytes != nil && *s.maxBytes == strconv.Itoa(closedBytes); s.Closed {
		open := openBytes
		s.maxBytes = &open
	}
	return s, nil
}

// Close makes the brokers refuse records of the topic. They need a moment to hear of it.
func (s TopicState) Close(ctx context.Context, cl *kgo.Client) error {
	closed := strconv.Itoa(closedBytes)
	return s.alter(ctx, cl, kadm.AlterConfig{Op: kadm.SetConfig, Name: maxBytes, Value: &closed})
}

// Open makes the brokers take records of a closed topic again.
func (s TopicState) Open(ctx context.Context, cl *kgo.Client) error {
	if s.maxBytes == nil {
		return s.alter(ctx, cl, kadm.AlterConfig{Op: kadm.DeleteConfig, Name: maxBytes})
	}
	return s.alter(ctx, cl, kadm.AlterConfig{Op: kadm.SetConfig, Name: maxBytes, Value: s.maxBytes})
}

func (s TopicState) alter(ctx context.Context, cl *kgo.Client, change kadm.AlterConfig) error {
	answers, err := kadm.NewClient(cl).AlterTopicConfigs(ctx, []kadm.AlterConfig{change}, s.Name)
	for _, a := range answers {
		err = errors.Join(err, a.Err)
	}
	if err != nil {
		return fmt.Errorf("set %s of Kafka topic %s: %w", maxBytes, s.Name, err)
	}
	return nil
}

// Refuses returns nil once every leader refused a record of the closed topic: from then on none is
// acknowledged. An error may mean that one took it, which is a dead letter then.
func (s TopicState) Refuses(ctx context.Context, options []kgo.Opt) error {
	ctx, cancel := context.WithTimeout(ctx, refuseLimit)
	defer cancel()
	cl, err := kgo.NewClient(append([]kgo.Opt{
		kgo.RequiredAcks(kgo.AllISRAcks()), kgo.DisableIdempotentWrite(), kgo.RecordRetries(0),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
	}, options...)...)
	if err != nil {
		return fmt.Errorf("make Kafka client: %w", err)
	}
	defer cl.Close()
	for partition := range s.Partitions {
		for {
			err := cl.ProduceSync(ctx, &kgo.Record{Topic: s.Name, Partition: partition,
				Value: []byte("lodestone repartition: the topic is closed")}).FirstErr()
			if err == nil {
				return fmt.Errorf("the brokers take records of %s although its %s is %d: it cannot be closed",
					s.Name, maxBytes, closedBytes)
			}
			if errors.Is(err, kerr.MessageTooLarge) {
				break
			}
			if service.Sleep(ctx, refuseTry) != nil {
				return fmt.Errorf("find out whether %s partition %d is closed: %w", s.Name, partition, err)
			}
		}
	}
	return nil
}

// Recreate deletes a topic and makes it again, closed, with another number of partitions and with
// its own settings, or those that CreateTopics gives if it does not exist.
func (s TopicState) Recreate(ctx context.Context, cl *kgo.Client, partitions int32) (TopicState, error) {
	admin := kadm.NewClient(cl)
	next := TopicState{Name: s.Name, maxBytes: s.maxBytes, replication: s.replication, settings: maps.Clone(s.settings)}
	if s.Exists() {
		deleted, err := admin.DeleteTopics(ctx, s.Name)
		if err == nil {
			err = deleted.Error()
		}
		if err != nil && !errors.Is(err, kerr.UnknownTopicOrPartition) {
			return next, fmt.Errorf("delete Kafka topic %s: %w", s.Name, err)
		}
	} else {
		brokers, err := admin.BrokerMetadata(ctx)
		if err != nil {
			return next, fmt.Errorf("look up Kafka brokers: %w", err)
		}
		next.replication, next.settings = TopicConfig{Replication: -1}.replication(len(brokers.Brokers)),
			topicSettings(s.Name)
		if next.replication >= wantedReplication {
			inSync := wantedInSync
			next.settings[minInSync] = &inSync
		}
	}
	closed := strconv.Itoa(closedBytes)
	next.settings[maxBytes] = &closed
	for {
		made, err := createTopic(ctx, admin, s.Name, partitions, next.replication, next.settings)
		if err != nil {
			return next, err
		}
		now, err := ReadTopic(ctx, cl, s.Name)
		switch {
		case err != nil:
			return now, err
		case now.Exists() && now.ID != s.ID && now.Closed && now.Partitions == partitions:
			now.maxBytes = next.maxBytes
			return now, nil
		case !made && now.Exists() && now.ID != s.ID:
			return now, fmt.Errorf("create Kafka topic %s: another program made it meanwhile, with %d partitions", s.Name,
				now.Partitions)
		}
		// Kafka has not forgotten the old one yet, or this broker has not heard of the new one.
		if err := service.Sleep(ctx, topicRetry); err != nil {
			return now, err
		}
	}
}
