package kafka

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/event"
	"lodestone/pkg/postgres"
)

// Ledger is the PartitionLedger in Postgres.
type Ledger struct{ Pool *postgres.Pool }

// Partitions implements PartitionLedger.
func (l Ledger) Partitions(ctx context.Context, id uuid.UUID, topic string, n int) (recorded int, err error) {
	const query = `
WITH inserted AS (
    INSERT INTO topic_partitions (topic_id, topic, partitions) VALUES ($1, $2, $3)
    ON CONFLICT (topic_id) DO NOTHING RETURNING partitions
)
SELECT partitions FROM inserted UNION ALL SELECT partitions FROM topic_partitions WHERE topic_id = $1 LIMIT 1`
	for {
		rows, err := l.Pool.Unscoped().Query(ctx, query, id, topic, n)
		if err != nil {
			return 0, fmt.Errorf("read the recorded number of partitions: %w", err)
		}
		found := rows.Next()
		if found {
			err = rows.Scan(&recorded)
		}
		rows.Close()
		if err == nil {
			err = rows.Err()
		}
		if err != nil {
			return 0, fmt.Errorf("read the recorded number of partitions: %w", err)
		}
		if found { // else another process recorded it at the same time: the next check sees it
			return recorded, nil
		}
	}
}

// Accept puts the present number of partitions on record, whatever was there.
func (l Ledger) Accept(ctx context.Context, cl *kgo.Client) error {
	for _, topic := range []string{event.Topic, event.LinkViewTopic} {
		id, n, err := Topic(ctx, cl, topic)
		if err != nil {
			return err
		}
		if _, err := l.Pool.Unscoped().Exec(ctx, `
INSERT INTO topic_partitions (topic_id, topic, partitions) VALUES ($1, $2, $3)
ON CONFLICT (topic_id) DO UPDATE SET partitions = excluded.partitions, recorded_at = now()`, id, topic, n); err != nil {
			return fmt.Errorf("record the number of partitions: %w", err)
		}
	}
	return nil
}
