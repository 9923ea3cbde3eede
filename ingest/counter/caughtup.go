package counter

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
	"lodestone/pkg/store"
)

// markEvery is the minimum time between two marks.
const markEvery = 5 * time.Second

// mark is a time and the ends of Kafka's logs at that time: once everything below them is counted,
// the counters reflect that time.
type mark struct {
	at      time.Time
	topicID uuid.UUID
	ends    map[int32]int64
}

// markProgress stores the time that the counters reflect, if they have reached the mark, and then
// sets the next mark. It drops a mark of a topic that was deleted since: its last records may never
// be stored.
func (c *Counter) markProgress(ctx context.Context, client *kgo.Client) error {
	if c.mark != nil {
		reached, err := c.reached(ctx, *c.mark)
		if err != nil {
			return err
		}
		if reached {
			if err := store.New(c.pool.Unscoped()).SetCaughtUp(ctx, c.mark.at); err != nil {
				return fmt.Errorf("write down how far the counters are: %w", err)
			}
			c.marked = c.mark.at
		} else {
			topicID, _, err := kafka.Topic(ctx, client, event.Topic)
			if err != nil || topicID == c.mark.topicID {
				return err
			}
		}
		c.mark = nil
	}
	if time.Since(c.marked) < min(markEvery, 10*c.cfg.Interval) {
		return nil
	}
	next := mark{at: time.Now(), ends: map[int32]int64{}}
	var err error
	if next.topicID, _, err = kafka.Topic(ctx, client, event.Topic); err != nil {
		return err
	}
	ends, err := kadm.NewClient(client).ListEndOffsets(ctx, event.Topic)
	if err != nil {
		return fmt.Errorf("read the ends of %s: %w", event.Topic, err)
	}
	for partition, o := range ends[event.Topic] {
		if o.Err != nil {
			return fmt.Errorf("read the end of partition %d: %w", partition, o.Err)
		}
		next.ends[partition] = o.Offset
	}
	c.mark = &next
	return nil
}

// reached reports whether everything up to a mark is counted.
func (c *Counter) reached(ctx context.Context, m mark) (bool, error) {
	counted, err := progress(ctx, store.New(c.pool.Unscoped()), m.topicID)
	if err != nil {
		return false, err
	}
	for partition, end := range m.ends {
		if counted[partition].from < end {
			return false, nil
		}
	}
	return true, nil
}
