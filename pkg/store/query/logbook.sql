-- name: TopicGroup :one
-- The recorded group of a topic, or ''.
SELECT coalesce(max(consumer_group), '')::text FROM topic_groups WHERE topic_id = sqlc.arg(topic_id);

-- name: AddTopicGroup :exec
INSERT INTO topic_groups (topic_id, topic, consumer_group) VALUES (sqlc.arg(topic_id), sqlc.arg(topic), sqlc.arg(consumer_group))
ON CONFLICT (topic_id) DO NOTHING;

-- name: ShareTopicGroup :one
-- The record cannot change until the transaction ends.
SELECT consumer_group FROM topic_groups WHERE topic_id = sqlc.arg(topic_id) FOR SHARE;

-- name: LockTopicGroup :one
-- Records a group if there is none, and locks the record in any case.
INSERT INTO topic_groups (topic_id, topic, consumer_group) VALUES (sqlc.arg(topic_id), sqlc.arg(topic), sqlc.arg(consumer_group))
ON CONFLICT (topic_id) DO UPDATE SET topic = excluded.topic RETURNING consumer_group;

-- name: SetTopicGroup :exec
UPDATE topic_groups SET consumer_group = sqlc.arg(consumer_group), recorded_at = now() WHERE topic_id = sqlc.arg(topic_id);

-- name: LockLosses :exec
LOCK TABLE lost_ranges IN SHARE ROW EXCLUSIVE MODE;

-- name: LossesOf :many
SELECT first_offset, last_offset FROM lost_ranges
WHERE topic_id = sqlc.arg(topic_id) AND partition = sqlc.arg(partition) ORDER BY first_offset;

-- name: Losses :many
SELECT * FROM lost_ranges WHERE sqlc.arg(acknowledged)::boolean OR acknowledged_at IS NULL
ORDER BY topic, topic_id, partition, first_offset;

-- name: AddLoss :exec
INSERT INTO lost_ranges (topic_id, topic, partition, first_offset, last_offset)
VALUES (sqlc.arg(topic_id), sqlc.arg(topic), sqlc.arg(partition), sqlc.arg(first_offset), sqlc.arg(last_offset));

-- name: AcknowledgeLosses :execrows
UPDATE lost_ranges SET acknowledged_at = now(), note = sqlc.arg(note)::text
WHERE number = ANY (sqlc.arg(numbers)::bigint[]) AND acknowledged_at IS NULL;

-- name: UnacknowledgedOffsets :one
SELECT coalesce(sum(last_offset - first_offset + 1), 0)::bigint FROM lost_ranges WHERE acknowledged_at IS NULL;

-- name: ReplacedLogs :many
SELECT partition, through_offset FROM replaced_logs WHERE topic_id = sqlc.arg(topic_id);

-- name: ReplaceLog :exec
INSERT INTO replaced_logs (topic_id, topic, partition, through_offset)
VALUES (sqlc.arg(topic_id), sqlc.arg(topic), sqlc.arg(partition), sqlc.arg(through_offset))
ON CONFLICT (topic_id, partition) DO UPDATE
SET through_offset = greatest(replaced_logs.through_offset, excluded.through_offset), repaired_at = now();
