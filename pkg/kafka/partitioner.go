package kafka

import (
	"slices"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Hash returns the partition, out of so many, of records with a key: as Kafka's own clients
// distribute them. It is used by one goroutine.
type Hash struct{ of kgo.TopicPartitioner }

// NewHash returns a Hash.
func NewHash() Hash { return Hash{kgo.StickyKeyPartitioner(nil).ForTopic("")} }

// Of returns the partition.
func (h Hash) Of(key []byte, partitions int) int32 {
	return int32(h.of.Partition(&kgo.Record{Key: key}, partitions))
}

// Counts says over how many partitions the keys of each topic are distributed, whatever number
// Kafka has: one that was raised there moves no keys. It is safe for concurrent use.
type Counts struct {
	topics []string
	counts []atomic.Int32 // of each topic; 0: not known
}

// NewCounts returns the counts of the topics, which are not known yet.
func NewCounts(topics ...string) *Counts {
	return &Counts{topics, make([]atomic.Int32, len(topics))}
}

// Set sets the count of a topic, or makes it unknown, and reports whether that is a change.
func (c *Counts) Set(topic string, partitions int) bool {
	count := c.of(topic)
	return count != nil && count.Swap(int32(partitions)) != int32(partitions)
}

func (c *Counts) of(topic string) *atomic.Int32 {
	if i := slices.Index(c.topics, topic); i >= 0 {
		return &c.counts[i]
	}
	return nil
}

// ForTopic implements kgo.Partitioner.
func (c *Counts) ForTopic(topic string) kgo.TopicPartitioner {
	return &countedPartitioner{kgo.StickyKeyPartitioner(nil).ForTopic(topic), c.of(topic)}
}

// countedPartitioner distributes keys over a count of ours. Its embedded partitioner is for all of
// Kafka's partitions.
type countedPartitioner struct {
	kgo.TopicPartitioner
	count *atomic.Int32 // nil, or 0: as many as Kafka has
}

// Partition implements kgo.TopicPartitioner.
func (p *countedPartitioner) Partition(r *kgo.Record, present int) int {
	count := present
	if p.count != nil && r.Key != nil {
		if known := int(p.count.Load()); known > 0 {
			count = known
		}
	}
	return p.TopicPartitioner.Partition(r, min(count, present))
}

// Placed returns a partitioner that takes the partition that a record names for these topics, and
// the hash of its key for others.
func Placed(topics ...string) kgo.Partitioner { return placedPartitioner(topics) }

type placedPartitioner []string

// ForTopic implements kgo.Partitioner.
func (p placedPartitioner) ForTopic(topic string) kgo.TopicPartitioner {
	if slices.Contains(p, topic) {
		return kgo.ManualPartitioner().ForTopic(topic)
	}
	return kgo.StickyKeyPartitioner(nil).ForTopic(topic)
}
