// Package logbook stores records about the logs of the ingestion's topics in Postgres: which consumer group stores
// them, and which records Kafka deleted before they were stored.
package logbook

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/config"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
)

// Book reads and writes the records. It is safe for concurrent use.
type Book struct{ pool *postgres.Pool }

// New returns the logbook of the database.
func New(pool *postgres.Pool) *Book { return &Book{pool} }

func (l *Book) queries() *store.Queries { return store.New(l.pool.Unscoped()) }

// Claim records the group as the one that stores the topic with the id, if none is recorded. If another group is
// recorded, the error is one of settings (config.IsInvalid) with a remedy; every other error may be temporary.
//
// A member of the group calls it after it joined and before it stores anything: HandOver locks the record and then
// looks for members, so one of the two sees the other.
func (l *Book) Claim(ctx context.Context, topicID uuid.UUID, topic, group string) error {
	var owner string
	err := l.pool.Transaction(ctx, func(tx pgx.Tx) error {
		q := store.New(tx)
		err := q.AddTopicGroup(ctx, store.AddTopicGroupParams{TopicID: topicID, Topic: topic, ConsumerGroup: group})
		if err != nil {
			return err
		}
		owner, err = q.ShareTopicGroup(ctx, topicID)
		return err
	})
	if err != nil {
		return fmt.Errorf("read which consumer group stores %s: %w", topic, err)
	}
	if owner != group {
		return config.Invalid("--consumer-group", fmt.Sprintf("is %s, but the records of %s are stored by the group %s: two groups would store every event twice", group, topic, owner),
			fmt.Sprintf("use --consumer-group %s; or stop the consumers of %[1]s and run `lodestone consumer-group hand-over --to %s`", owner, group))
	}
	return nil
}

// Owner is the recorded group of a topic.
type Owner struct {
	TopicID uuid.UUID
	Topic   string
	Group   string
}
