-- name: RecordPartitions :one
-- Records the number of partitions of a topic, unless there is a record, and returns the one recorded. It returns no
-- row if another process recorded it at the same time.
WITH inserted AS (
    INSERT INTO topic_partitions (topic_id, topic, partitions) VALUES ($1, $2, $3)
    ON CONFLICT (topic_id) DO NOTHING RETURNING partitions
)
SELECT partitions FROM inserted UNION ALL SELECT t.partitions FROM topic_partitions t WHERE t.topic_id = $1 LIMIT 1;
