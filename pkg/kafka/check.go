package kafka

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/event"
)

// Limits of the settings that are checked.
const (
	// BatchBytes is the maximum size of a producer's batch: the client's default.
	BatchBytes = 1_000_012
	// DeadLetterBytes is the largest message of the dead letters: any record that a topic of ours
	// took, with the reason and origin added.
	DeadLetterBytes = 4 << 20

	// A backup of days ago needs the records since then, and erased records have to go in known time.
	eventRetention = 7 * 24 * time.Hour

	// Dead letters wait for a person, but not without bound: whatever else writes to the topics of
	// events would fill the disk.
	deadLetterRetention      = 90 * 24 * time.Hour
	deadLetterRetentionBytes = 256 << 20 // of each partition
	minDeadLetterRetention   = 14 * 24 * time.Hour
	minDeadLetterBytes       = 16 << 20

	minRetention       = 24 * time.Hour
	minRetentionBytes  = 256 << 20
	minOffsetRetention = 24 * time.Hour

	// An acknowledged record is on two brokers, and one of three may be down.
	wantedReplication = 3
	wantedInSync      = "2"
)

// Settings of topics that control their replicas.
const (
	minInSync = "min.insync.replicas"
	unclean   = "unclean.leader.election.enable"
)

// Finding is a setting of Kafka that endangers events, and what to do about it.
type Finding struct {
	Where   string // "topic lodestone.events", "brokers"
	Setting string
	Wrong   string
	Remedy  string
	Fatal   bool // no process may start on it; else it is a warning

	// Findings of these two kinds refuse a start only. A process that runs goes on and reports them:
	// it loses nothing by it.
	Missing bool // a topic does not exist, or not every broker knows it yet
	Copies  bool // an acknowledged event may be on one broker only; Config.AcceptFewerCopies makes it a warning
}

// Error implements error.
func (f *Finding) Error() string {
	return fmt.Sprintf("Kafka %s: %s %s: %s", f.Where, f.Setting, f.Wrong, f.Remedy)
}

// IsRefusal reports whether an error is a setting of Kafka on which a process refuses to start, so
// that trying again will not help.
func IsRefusal(err error) bool {
	var f *Finding
	return errors.As(err, &f) && f.Fatal
}

// PartitionLedger remembers over how many partitions the keys of a topic are distributed. Kafka may
// have more, which are not used.
type PartitionLedger interface {
	// Partitions returns the number on record, which is n if there was none. It never changes.
	Partitions(ctx context.Context, id uuid.UUID, topic string, n int) (int, error)
}

// Check looks at the topics and at the cluster and returns what endangers events. Topics that do
// not exist are findings as well. A nil ledger leaves the number of partitions unchecked. The
// error is about asking: Kafka, or the ledger, does not answer.
func Check(ctx context.Context, cl *kgo.Client, ledger PartitionLedger, topics ...string) ([]*Finding, error) {
	admin := kadm.NewClient(cl)
	meta, err := admin.Metadata(ctx, topics...)
	if err != nil {
		return nil, fmt.Errorf("look up Kafka topics: %w", err)
	}
	c := checker{brokers: len(meta.Brokers)}
	var known []string
	for _, name := range topics {
		detail, ok := meta.Topics[name]
		switch {
		case !ok, errors.Is(detail.Err, kerr.UnknownTopicOrPartition):
			c.add(true, "topic "+name, "the topic", "does not exist", "make it with `lodestone migrate`").Missing = true
			continue
		case detail.Err != nil:
			return nil, fmt.Errorf("look up Kafka topic %s: %w", name, detail.Err)
		}
		if detail.ID == (kadm.TopicID{}) {
			// A topic that is recreated starts at offset 0 again. Without an id its records would be taken
			// for the old ones, which are stored, and skipped.
			c.fatal("topic "+name, "its id",
				"is not given by the brokers: records of a topic that is recreated could not be distinguished from those of the old one",
				"use Kafka 2.8 or later; on an upgraded cluster set inter.broker.protocol.version to 2.8 or later")
		}
		known = append(known, name)
	}
	if len(known) > 0 {
		configs, err := admin.DescribeTopicConfigs(ctx, known...)
		if err != nil && !errors.Is(err, kerr.TopicAuthorizationFailed) {
			return nil, fmt.Errorf("read settings of Kafka topics: %w", err)
		}
		for _, name := range known {
			values, err := settings(configs, name)
			if err != nil {
				c.warn("topic "+name, "its settings", "cannot be read ("+err.Error()+")",
					"allow this user DescribeConfigs on the topic")
			}
			c.topic(name, replicas(meta.Topics[name]), values)
			if ledger == nil || name == event.DeadLetterTopic {
				continue
			}
			if err := c.partitions(ctx, ledger, meta.Topics[name]); err != nil {
				return c.findings, err
			}
		}
	}
	c.cluster(ctx, admin, meta)
	return c.findings, nil
}

type checker struct {
	brokers  int
	findings []*Finding
}

func (c *checker) add(fatal bool, where, setting, wrong, remedy string) *Finding {
	f := &Finding{Where: where, Setting: setting, Wrong: wrong, Remedy: remedy, Fatal: fatal}
	c.findings = append(c.findings, f)
	return f
}
func (c *checker) fatal(where, setting, wrong, remedy string) {
	_ = c.add(true, where, setting, wrong, remedy) // nothing to add to it
}
func (c *checker) warn(where, setting, wrong, remedy string) {
	_ = c.add(false, where, setting, wrong, remedy) // nothing to add to it
}

// copies adds a finding about a topic whose acknowledged records may be on one broker only.
func (c *checker) copies(where, setting, wrong, remedy string) {
	c.add(true, where, setting, wrong, remedy+"; or accept the loss with --kafka-accept-fewer-copies").Copies = true
}

// replicas returns the lowest number of replicas that a partition of the topic has.
func replicas(t kadm.TopicDetail) int {
	lowest := 0
	for _, p := range t.Partitions {
		if lowest == 0 || len(p.Replicas) < lowest {
			lowest = len(p.Replicas)
		}
	}
	return lowest
}

// settings returns the effective settings of one resource.
func settings(all kadm.ResourceConfigs, name string) (map[string]string, error) {
	for _, r := range all {
		if r.Name != name {
			continue
		}
		if r.Err != nil {
			return nil, r.Err
		}
		values := make(map[string]string, len(r.Configs))
		for _, c := range r.Configs {
			values[c.Key] = c.MaybeValue()
		}
		return values, nil
	}
	return nil, errors.New("no answer")
}

// alter is the command that changes a topic's setting, with the tool that Kafka comes with.
func alter(topic, setting string) string {
	return "`kafka-configs.sh --alter --entity-type topics --entity-name " + topic + " --add-config " + setting + "`"
}

// milliseconds is a time as topics' settings have it.
func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// endless is the finding about a topic without a retention time.
const endless = "is -1: records of erased people never leave Kafka, and no receipt of an erasure has a records_until"

// topic judges the settings of one topic. Settings that could not be read, or that the broker does
// not have, are skipped.
func (c *checker) topic(name string, copies int, values map[string]string) { //nolint:cyclop // a list of settings
	where := "topic " + name
	number := func(key string) (int64, bool) {
		v, err := strconv.ParseInt(values[key], 10, 64)
		return v, err == nil
	}
	if policy := values["cleanup.policy"]; strings.Contains(policy, "compact") {
		c.fatal(where, "cleanup.policy",
			"is "+policy+": records with the same key would be removed before or after they are stored",
			alter(name, "cleanup.policy=delete"))
	}
	several := c.brokers > 1
	if several && copies < wantedReplication {
		c.copies(where, "replication factor",
			fmt.Sprintf("is %d on %d brokers: losing brokers loses acknowledged events", copies, c.brokers),
			"run three brokers or more, reassign the partitions to 3 replicas with `kafka-reassign-partitions.sh`, and then "+
				alter(name, minInSync+"="+wantedInSync))
	}
	if isr, ok := number(minInSync); ok {
		switch {
		case isr > int64(copies):
			c.fatal(where, minInSync, fmt.Sprintf("is %d, but the topic has %d replicas: no write can ever be acknowledged", isr,
				copies),
				alter(name, minInSync+"="+strconv.Itoa(max(1, copies-1))))
		case several && copies >= wantedReplication && isr < 2:
			c.copies(where, minInSync,
				fmt.Sprintf("is 1 of %d replicas: an acknowledged event may be on one broker only", copies),
				alter(name, minInSync+"="+wantedInSync))
		case !several && copies >= 2 && isr == 1: // the other brokers are down
			c.warn(where, minInSync, fmt.Sprintf("is 1 of %d replicas: an acknowledged event may be on one broker only", copies),
				alter(name, minInSync+"="+wantedInSync))
		}
	}
	if values[unclean] == "true" {
		report := c.warn
		if several {
			report = c.copies
		}
		report(where, unclean, "is true: a replica that lags behind may take over, and acknowledged events vanish",
			alter(name, unclean+"=false"))
	}
	if kind, ok := values[timestampType]; ok && kind != appendTime {
		c.warn(where, timestampType,
			"is "+kind+": the brokers refuse the records of a collector whose clock is more than an hour ahead",
			alter(name, timestampType+"="+appendTime))
	}
	if name == event.DeadLetterTopic {
		c.deadLetterTopic(where, name, number)
		return
	}
	week := alter(name, "retention.ms="+milliseconds(eventRetention)) + ", which is a week"
	switch ms, ok := number("retention.ms"); {
	case ok && ms < 0:
		c.warn(where, "retention.ms", endless, week)
	case ok && ms < minRetention.Milliseconds():
		c.warn(where, "retention.ms", fmt.Sprintf("is %s: a longer standstill of the consumer or of ClickHouse loses events",
			time.Duration(ms)*time.Millisecond), week)
	}
	if size, ok := number("retention.bytes"); ok && size >= 0 && size < minRetentionBytes {
		c.warn(where, "retention.bytes",
			fmt.Sprintf("is %d for each partition: a standstill of the consumer may lose events before retention.ms has passed",
				size),
			alter(name, "retention.bytes=-1")+", and let retention.ms bound the log")
	}
	switch size, ok := number(maxBytes); {
	case ok && size == closedBytes:
		c.warn(where, "the topic",
			"is closed by `lodestone repartition`: the brokers take no records, and events wait in the spools of collectors",
			"wait until the command ends, or run it again if it was interrupted")
	case ok && size < BatchBytes:
		c.fatal(where, "max.message.bytes",
			fmt.Sprintf("is %d: the collector sends batches of up to %d bytes, which would be refused", size, BatchBytes),
			alter(name, maxBytes+"="+openBytes))
	}
}

// deadLetterTopic judges what differs for dead letters: they wait for a person, however long.
func (c *checker) deadLetterTopic(where, name string, number func(string) (int64, bool)) {
	longer := alter(name, "retention.ms="+milliseconds(deadLetterRetention)) + ", which is 90 days"
	switch ms, ok := number("retention.ms"); {
	case ok && ms < 0:
		c.warn(where, "retention.ms", endless, longer)
	case ok && ms < minDeadLetterRetention.Milliseconds():
		c.warn(where, "retention.ms", fmt.Sprintf("is %s: dead letters that no one looked at are lost after that",
			time.Duration(ms)*time.Millisecond), longer)
	}
	if size, ok := number("retention.bytes"); ok && size >= 0 && size < minDeadLetterBytes {
		c.warn(where, "retention.bytes",
			fmt.Sprintf("is %d for each partition: the oldest dead letters are lost above that", size),
			alter(name, "retention.bytes="+strconv.Itoa(deadLetterRetentionBytes)))
	}
	if size, ok := number("max.message.bytes"); ok && size < DeadLetterBytes {
		c.warn(where, "max.message.bytes",
			fmt.Sprintf("is %d: a record of about that size that cannot become a row would stop its partition", size),
			alter(name, "max.message.bytes="+strconv.Itoa(DeadLetterBytes)))
	}
}

// partitions compares the number of a topic's partitions with the one on record. No process ends on
// a difference: keys are distributed over the number on record.
func (c *checker) partitions(ctx context.Context, ledger PartitionLedger, t kadm.TopicDetail) error {
	n := len(t.Partitions)
	recorded, err := ledger.Partitions(ctx, uuid.UUID(t.ID), t.Topic, n)
	if err != nil {
		return err
	}
	where, setting := "topic "+t.Topic, "number of partitions"
	switch {
	case n > recorded:
		c.warn(where, setting, fmt.Sprintf("is %d, but only %d are used: the others get no events", n, recorded),
			"nothing needs to be done; to use another number, run `lodestone repartition`")
	case n < recorded:
		c.warn(where, setting, fmt.Sprintf("is %d, but %d are used", n, recorded),
			"check which Kafka cluster --kafka-brokers names")
	}
	return nil
}

// cluster judges the settings of the brokers. They may be hidden from us, as managed services do.
func (c *checker) cluster(ctx context.Context, admin *kadm.Client, meta kadm.Metadata) {
	if len(meta.Brokers) == 0 {
		return
	}
	id := meta.Brokers[0].NodeID
	configs, err := admin.DescribeBrokerConfigs(ctx, id)
	if err != nil {
		return
	}
	values, err := settings(configs, strconv.Itoa(int(id)))
	if err != nil {
		return
	}
	if minutes, err := strconv.ParseInt(values["offsets.retention.minutes"], 10, 64); err == nil &&
		time.Duration(minutes)*time.Minute < minOffsetRetention {
		c.warn("brokers", "offsets.retention.minutes",
			fmt.Sprintf("is %d: a consumer that stood still for longer starts at the beginning of the log, and skips what is stored", minutes),
			"set offsets.retention.minutes=10080 on the brokers")
	}
}
