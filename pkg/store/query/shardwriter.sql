-- name: ShardWriter :one
SELECT replicas, writer, epoch, ready, previous, drops,
    coalesce(extract(epoch FROM clock_timestamp() - closed_at) * 1000, 0)::bigint AS age_ms,
    (closed_at IS NOT NULL)::boolean AS closed
FROM shard_writers WHERE shard = sqlc.arg(shard);

-- name: CloseShardWriter :exec
-- Begins to count the age of a record that everyone can see.
UPDATE shard_writers SET closed_at = clock_timestamp() WHERE shard = sqlc.arg(shard) AND epoch = sqlc.arg(epoch) AND NOT ready AND closed_at IS NULL;

-- name: AddShardWriter :exec
INSERT INTO shard_writers (shard, replicas, writer, epoch) VALUES (sqlc.arg(shard), sqlc.arg(replicas), sqlc.arg(writer), sqlc.arg(epoch)) ON CONFLICT DO NOTHING;

-- name: ChangeShardWriter :execrows
UPDATE shard_writers SET replicas = sqlc.arg(replicas), writer = sqlc.arg(writer), epoch = sqlc.arg(epoch), ready = sqlc.arg(ready),
    previous = sqlc.arg(previous), drops = sqlc.arg(drops), closed_at = NULL
WHERE shard = sqlc.arg(shard) AND epoch = sqlc.arg(from_epoch) AND ready = sqlc.arg(from_ready) AND drops = sqlc.arg(from_drops)
    AND replicas = sqlc.arg(from_replicas);

-- name: ShardsWithWriters :many
SELECT shard FROM shard_writers ORDER BY shard;
