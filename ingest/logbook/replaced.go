package logbook

import (
	"context"
	"fmt"

	"github.com/google/uuid"
)

// Starts returns the first valid offset of the topic's partitions whose earlier records differ from the stored ones:
// see Replace. Other partitions are absent.
func (l *Book) Starts(ctx context.Context, topicID uuid.UUID) (map[int32]int64, error) {
	rows, err := l.pool.Unscoped().Query(ctx, "SELECT partition, through_offset + 1 FROM replaced_logs WHERE topic_id = $1", topicID)
	if err != nil {
		return nil, fmt.Errorf("read where repaired logs begin: %w", err)
	}
	defer rows.Close()
	starts := map[int32]int64{}
	for rows.Next() {
		var partition int32
		var start int64
		if err := rows.Scan(&partition, &start); err != nil {
			return nil, fmt.Errorf("read where repaired logs begin: %w", err)
		}
		starts[partition] = start
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read where repaired logs begin: %w", err)
	}
	return starts, nil
}

// Replace records that the records of a partition up to the offset are not the stored ones.
func (l *Book) Replace(ctx context.Context, topicID uuid.UUID, topic string, partition int32, through int64) error {
	if _, err := l.pool.Unscoped().Exec(ctx, `INSERT INTO replaced_logs (topic_id, topic, partition, through_offset) VALUES ($1, $2, $3, $4)
		ON CONFLICT (topic_id, partition) DO UPDATE SET through_offset = greatest(replaced_logs.through_offset, excluded.through_offset), repaired_at = now()`,
		topicID, topic, partition, through); err != nil {
		return fmt.Errorf("record where the repaired log begins: %w", err)
	}
	return nil
}
