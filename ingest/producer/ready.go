package producer

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"lodestone/pkg/kafka"
)

// After this many failed writes in a row, Kafka counts as taking no records. After this time
// without another write, a new attempt is worthwhile.
const (
	failuresInARow = 3
	failuresLast   = 10 * time.Second
)

// readyTry bounds the query to Kafka.
const readyTry = 2 * time.Second

// failures counts the writes in a row that were not acknowledged.
type failures struct {
	count atomic.Int64
	last  atomic.Int64 // Unix nanoseconds
}

func (f *failures) note(err error) {
	if err == nil {
		if f.count.Load() != 0 {
			f.count.Store(0)
		}
		return
	}
	f.last.Store(time.Now().UnixNano())
	f.count.Add(1)
}

// Ready reports whether Kafka takes records: it answers, each topic has a partition with a leader,
// and not all of the last writes failed.
func (p *Producer) Ready(ctx context.Context) error {
	if n := p.failures.count.Load(); n >= failuresInARow &&
		time.Since(time.Unix(0, p.failures.last.Load())) < failuresLast {
		return fmt.Errorf("the last %d writes were not acknowledged", n)
	}
	ctx, cancel := context.WithTimeout(ctx, readyTry)
	defer cancel()
	topics, err := kadm.NewClient(p.client).ListTopics(ctx, p.deps.Topics...)
	if err != nil {
		return fmt.Errorf("ask Kafka for its topics: %w", err)
	}
	for _, name := range p.deps.Topics {
		detail, ok := topics[name]
		if !ok || len(detail.Partitions) == 0 {
			return fmt.Errorf("topic %s: %w", name, errors.Join(kafka.ErrNoTopic, detail.Err))
		}
		if !led(detail) {
			return fmt.Errorf("topic %s: no partition has a leader", name)
		}
	}
	return nil
}

func led(t kadm.TopicDetail) bool {
	for _, p := range t.Partitions {
		if p.Leader >= 0 {
			return true
		}
	}
	return false
}
