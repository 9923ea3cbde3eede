package kafka

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/config"
	"lodestone/pkg/event"
	"lodestone/pkg/service"
)

// TopicConfig says how topics are created. It changes no existing topic.
type TopicConfig struct {
	Partitions  int32 `name:"kafka-partitions" default:"24" help:"Number of partitions of each topic when it is created. To change it later, run lodestone repartition."`
	Replication int16 `name:"kafka-replication" default:"-1" help:"Replicas of each partition when the topics are created. -1 means 3 on three brokers or more, 2 on two, and the broker's default on one."`
}

// maxPartitions is the greatest number of partitions of a topic.
const maxPartitions = 1024

// topicRetry is the time between two looks for a new topic.
const topicRetry = 20 * time.Millisecond

// Validate returns every problem of the settings.
func (c TopicConfig) Validate() error {
	var errs []error
	if c.Partitions < 1 || c.Partitions > maxPartitions {
		errs = append(errs, config.Invalid("--kafka-partitions", "is out of range", "give a number from 1 to 1024"))
	}
	if c.Replication != -1 && (c.Replication < 1 || c.Replication > 9) {
		errs = append(errs, config.Invalid("--kafka-replication", "is out of range", "give a number from 1 to 9, or -1"))
	}
	return errors.Join(errs...)
}

// replication returns the copies to make on so many brokers, or -1 for the broker's default.
func (c TopicConfig) replication(brokers int) int16 {
	if c.Replication == -1 && brokers > 1 {
		return int16(min(brokers, wantedReplication))
	}
	return c.Replication
}

// KeyedTopics returns the names of the topics whose records are distributed by key.
func KeyedTopics() []string { return []string{event.Topic, event.LinkViewTopic} }

// Topics returns the names of all topics.
func Topics() []string { return append(KeyedTopics(), event.DeadLetterTopic) }

// The brokers' clock dates the records: they refuse one that a collector dates more than an hour
// ahead, and would keep one that it dates back for too short a time.
const (
	timestampType = "message.timestamp.type"
	appendTime    = "LogAppendTime"
)

// topicSettings are the settings that a topic is created with; everything else is the brokers'
// default.
func topicSettings(topic string) map[string]*string {
	value := func(v string) *string { return &v }
	settings := map[string]*string{"cleanup.policy": value("delete"), timestampType: value(appendTime),
		"retention.ms": value(milliseconds(eventRetention))}
	if topic == event.DeadLetterTopic {
		// They wait for a person. What was done about them stands in the topic as well.
		settings["retention.ms"] = value(milliseconds(deadLetterRetention))
		settings["retention.bytes"] = value(strconv.Itoa(deadLetterRetentionBytes))
		settings["max.message.bytes"] = value(strconv.Itoa(DeadLetterBytes))
	}
	return settings
}

// CreateTopics makes the topics that do not exist yet and returns their names. It is safe to call
// from several processes at once.
func CreateTopics(ctx context.Context, cl *kgo.Client, c TopicConfig) ([]string, error) {
	admin := kadm.NewClient(cl)
	brokers, err := admin.BrokerMetadata(ctx)
	if err != nil {
		return nil, fmt.Errorf("look up Kafka brokers: %w", err)
	}
	replication := c.replication(len(brokers.Brokers))
	var created []string
	for _, name := range Topics() {
		settings := topicSettings(name)
		if replication >= wantedReplication {
			inSync := wantedInSync
			settings[minInSync] = &inSync
		}
		made, err := createTopic(ctx, admin, name, c.Partitions, replication, settings)
		if err != nil {
			return created, err
		}
		if made {
			created = append(created, name)
		}
	}
	for _, name := range created {
		if err := await(ctx, cl, name); err != nil {
			return created, err
		}
	}
	return created, nil
}

// createTopic makes a topic, and reports false if there is one of its name.
func createTopic(ctx context.Context, admin *kadm.Client, name string, partitions int32, replication int16,
	settings map[string]*string) (bool, error) {
	responses, err := admin.CreateTopics(ctx, partitions, replication, settings, name)
	if err == nil {
		err = responses[name].Err
	}
	if errors.Is(err, kerr.TopicAlreadyExists) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("create Kafka topic %s: %w", name, err)
	}
	return true, nil
}

// await returns when a new topic is known: metadata reaches the brokers one after another.
func await(ctx context.Context, cl *kgo.Client, name string) error {
	for {
		_, _, err := Topic(ctx, cl, name)
		if !errors.Is(err, ErrNoTopic) {
			return err
		}
		if service.Sleep(ctx, topicRetry) != nil {
			return err
		}
	}
}

// ErrNoTopic is wrapped by the error of Topic about a topic that does not exist.
var ErrNoTopic = errors.New("the topic does not exist: make it with `lodestone migrate`")

// Topic returns the id of a topic and the number of its partitions. A topic that was deleted and
// created again has another id.
func Topic(ctx context.Context, cl *kgo.Client, name string) (id uuid.UUID, partitions int, err error) {
	topics, err := kadm.NewClient(cl).ListTopics(ctx, name)
	if err != nil {
		return uuid.Nil, 0, fmt.Errorf("look up Kafka topic %s: %w", name, err)
	}
	detail, ok := topics[name]
	if !ok || errors.Is(detail.Err, kerr.UnknownTopicOrPartition) {
		return uuid.Nil, 0, fmt.Errorf("look up Kafka topic %s: %w", name, ErrNoTopic)
	}
	if detail.Err != nil {
		return uuid.Nil, 0, fmt.Errorf("look up Kafka topic %s: %w", name, detail.Err)
	}
	return uuid.UUID(detail.ID), len(detail.Partitions), nil
}
