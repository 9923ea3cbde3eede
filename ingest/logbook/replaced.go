package logbook

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"lodestone/pkg/store"
)

// Starts returns the first valid offset of the topic's partitions whose earlier records differ from the stored ones:
// see Replace. Other partitions are absent.
func (l *Book) Starts(ctx context.Context, topicID uuid.UUID) (map[int32]int64, error) {
	logs, err := l.queries().ReplacedLogs(ctx, topicID)
	if err != nil {
		return nil, fmt.Errorf("read where repaired logs begin: %w", err)
	}
	starts := map[int32]int64{}
	for _, r := range logs {
		starts[r.Partition] = r.ThroughOffset + 1
	}
	return starts, nil
}

// Replace records that the records of a partition up to the offset are not the stored ones.
func (l *Book) Replace(ctx context.Context, topicID uuid.UUID, topic string, partition int32, through int64) error {
	if err := l.queries().ReplaceLog(ctx, store.ReplaceLogParams{TopicID: topicID, Topic: topic, Partition: partition, ThroughOffset: through}); err != nil {
		return fmt.Errorf("record where the repaired log begins: %w", err)
	}
	return nil
}
