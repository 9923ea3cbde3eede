-- name: RecordPartitions :one
-- Records the number of partitions of a topic, unless there is a record, and returns the one recorded.
INSERT INTO topics (topic_id, topic, partitions) VALUES (sqlc.arg(topic_id), sqlc.arg(topic), sqlc.arg(partitions)::integer)
ON CONFLICT (topic_id) DO UPDATE SET partitions = coalesce(topics.partitions, excluded.partitions)
RETURNING partitions::integer AS partitions;
