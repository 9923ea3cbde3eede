package consumer

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"lodestone/pkg/config"
	"lodestone/pkg/store"
)

// claim records the consumer's group as the one that stores the topic with the id, if none is
// recorded, and reports whether an earlier topic had the same name. If another group is recorded,
// the error is one of settings (config.IsInvalid) with a remedy; every other error may be
// temporary.
func (c *Consumer) claim(ctx context.Context, topicID uuid.UUID, topic string) (successor bool, err error) {
	recorded, err := store.New(c.postgres.Unscoped()).ClaimTopic(ctx, store.ClaimTopicParams{
		TopicID: topicID, Topic: topic, ConsumerGroup: c.cfg.Group,
	})
	if err != nil {
		return false, fmt.Errorf("read which consumer group stores %s: %w", topic, err)
	}
	if owner := recorded.ConsumerGroup; owner != c.cfg.Group {
		return false, config.Invalid("--consumer-group",
			fmt.Sprintf("is %s, but the group %s stores the records of %s: two groups would store every event twice",
				c.cfg.Group, owner, topic),
			"use --consumer-group "+owner+`, or change the group as "One consumer group" in docs/operations.md says`)
	}
	return recorded.Successor, nil
}
