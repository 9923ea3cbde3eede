-- name: Placement :one
-- The shard of a partition, 0 if none is on record.
SELECT coalesce(max(shard), 0)::integer FROM partition_placements WHERE topic_id = sqlc.arg(topic_id) AND partition = sqlc.arg(partition) AND copy = sqlc.arg(copy);

-- name: PlacementsOfName :many
-- Those of every topic that has or had a name, the newest last, with the number of partitions of the topic; 0 if that is not on record.
SELECT p.topic_id, p.partition, p.shard, coalesce(t.partitions, 0)::integer AS partitions
FROM partition_placements p LEFT JOIN topics t ON t.topic_id = p.topic_id
WHERE p.topic = sqlc.arg(topic) AND p.copy = sqlc.arg(copy) ORDER BY p.placed_at, p.topic_id, p.partition;

-- name: AddPlacement :exec
INSERT INTO partition_placements (topic_id, partition, topic, shard)
VALUES (sqlc.arg(topic_id), sqlc.arg(partition), sqlc.arg(topic), sqlc.arg(shard));

-- name: PlacedShards :many
SELECT DISTINCT shard FROM partition_placements WHERE copy = sqlc.arg(copy) ORDER BY shard;
