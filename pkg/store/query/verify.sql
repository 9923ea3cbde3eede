-- name: RemoveExpiredBlocks :exec
DELETE FROM verified_blocks WHERE topic_id = sqlc.arg(topic_id) AND partition = sqlc.arg(partition) AND first_offset < sqlc.arg(first_offset);

-- name: RemoveBlocksOfOthers :exec
-- Removes the blocks of topics other than those given.
DELETE FROM verified_blocks WHERE topic_id <> ALL (sqlc.arg(topic_ids)::uuid[]);

-- name: VerifiedBlocks :many
SELECT block, first_offset, next_offset, row_count, offset_sum FROM verified_blocks
WHERE topic_id = sqlc.arg(topic_id) AND partition = sqlc.arg(partition) ORDER BY block;

-- name: SetVerifiedBlocks :exec
-- The arrays are parallel.
INSERT INTO verified_blocks (topic_id, partition, block, first_offset, next_offset, row_count, offset_sum)
SELECT sqlc.arg(topic_id), sqlc.arg(partition), unnest(sqlc.arg(blocks)::bigint[]), unnest(sqlc.arg(first_offsets)::bigint[]),
    unnest(sqlc.arg(next_offsets)::bigint[]), unnest(sqlc.arg(row_counts)::bigint[]), unnest(sqlc.arg(offset_sums)::bigint[])
ON CONFLICT (topic_id, partition, block) DO UPDATE SET first_offset = excluded.first_offset, next_offset = excluded.next_offset,
    row_count = excluded.row_count, offset_sum = excluded.offset_sum;

-- name: LinkCounters :many
-- The counters of access links and generic links. Generic links have no times.
SELECT id, account_id, view_count, first_viewed_at, last_viewed_at FROM counted_access_links WHERE id = ANY (sqlc.arg(ids)::uuid[])
UNION ALL
SELECT id, account_id, view_count, NULL, NULL FROM counted_generic_links WHERE id = ANY (sqlc.arg(ids)::uuid[]);

-- name: RunningCheck :one
SELECT state, finished_at, extract(epoch FROM clock_timestamp() - began_at)::float8 AS age FROM running_check;

-- name: SetRunningCheck :exec
-- The check began with the transaction.
INSERT INTO running_check (began_at, finished_at, state) VALUES (now(), clock_timestamp(), sqlc.arg(state))
ON CONFLICT (single) DO UPDATE SET began_at = excluded.began_at, finished_at = excluded.finished_at, state = excluded.state;
