-- name: RecordPartitions :one
-- Records the number of partitions of a topic, unless there is a record, and returns the one recorded. It returns no
-- row if another process recorded it at the same time.
WITH recorded AS (
    INSERT INTO topics (topic_id, topic, partitions) VALUES (sqlc.arg(topic_id), sqlc.arg(topic), sqlc.arg(partitions)::integer)
    ON CONFLICT (topic_id) DO UPDATE SET partitions = excluded.partitions WHERE topics.partitions IS NULL
    RETURNING partitions
)
SELECT partitions::integer AS partitions FROM recorded
UNION ALL SELECT t.partitions::integer FROM topics t WHERE t.topic_id = sqlc.arg(topic_id) AND t.partitions IS NOT NULL LIMIT 1;
