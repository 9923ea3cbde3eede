-- name: AddCopy :one
SELECT add_copy(sqlc.arg(copy))::boolean AS added;

-- name: HasCopy :one
SELECT EXISTS (SELECT FROM copies WHERE copy = sqlc.arg(copy));

-- name: LastCopy :one
-- The greatest number that a copy has had.
SELECT last_copy()::integer;

-- name: SetStoredUntil :exec
-- Says that a copy has everything that was in Kafka at a time of this database's clock.
UPDATE copies SET stored_until = greatest(stored_until, sqlc.arg(stored_until)::timestamptz) WHERE copy = sqlc.arg(copy);

-- name: CopyLags :many
-- By how many seconds what a copy has is behind, at the most.
SELECT copy, coalesce(extract(epoch FROM clock_timestamp() - nullif(stored_until, '-infinity')), 'infinity')::float8 AS seconds FROM copies ORDER BY copy;

-- name: ForgetPlacements :exec
-- Partitions are placed where their rows are found.
DELETE FROM partition_placements;

-- name: RemoveOtherCopies :exec
SELECT remove_copy(copy) FROM copies WHERE copy <> sqlc.arg(copy);

-- name: GroupsOfTopic :many
-- The groups that store a topic, one for each copy of the events.
SELECT consumer_group FROM topic_groups WHERE topic_id = sqlc.arg(topic_id) ORDER BY copy;
