-- name: RecordPartitions :one
-- Records the number of partitions of a topic, unless there is a record, and returns the one recorded. It returns no
-- row if another process recorded it at the same time.
WITH inserted AS (
    INSERT INTO topic_partitions (topic_id, topic, partitions, base) VALUES ($1, $2, $3, $3)
    ON CONFLICT (topic_id) DO NOTHING RETURNING partitions
)
SELECT partitions FROM inserted UNION ALL SELECT t.partitions FROM topic_partitions t WHERE t.topic_id = $1 LIMIT 1;

-- name: TopicLayout :one
-- The numbers of partitions that keys are distributed over now, and were when the topic was new.
SELECT partitions, base FROM topic_partitions WHERE topic_id = $1;

-- name: PartitionCuts :many
SELECT partition, partitions, cut FROM partition_cuts WHERE topic_id = $1 ORDER BY partition, partitions;

-- name: RecordCut :exec
-- The first record holds: the log is read in order, and again from the same place after a failure.
INSERT INTO partition_cuts (topic_id, partition, partitions, cut) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING;

-- name: DoublePartitions :execrows
-- Doubles the number, unless it is not the one given any more or a cut of the last doubling is missing.
UPDATE topic_partitions t SET partitions = 2 * t.partitions, recorded_at = now()
WHERE t.topic_id = @topic_id AND t.partitions = @partitions
  AND (t.partitions = t.base OR t.partitions / 2 = (SELECT count(*) FROM partition_cuts c WHERE c.topic_id = t.topic_id AND c.partitions = t.partitions));
