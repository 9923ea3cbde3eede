-- name: ClaimTopic :one
-- Records the group that stores a topic in a copy if there is none, and tells whether the group stored another topic of the name.
INSERT INTO topic_groups AS g (topic_id, copy, topic, consumer_group)
VALUES (sqlc.arg(topic_id), sqlc.arg(copy), sqlc.arg(topic), sqlc.arg(consumer_group))
ON CONFLICT (topic_id, copy) DO UPDATE SET consumer_group = g.consumer_group
RETURNING consumer_group, EXISTS (
    SELECT FROM topic_groups AS other WHERE other.topic = g.topic AND other.topic_id <> g.topic_id
        AND other.copy = g.copy AND other.consumer_group = g.consumer_group
) AS successor;

-- name: AddLostRange :exec
-- May be repeated, also with a range that overlaps what is recorded.
INSERT INTO lost_ranges (topic_id, copy, topic, partition, offsets)
VALUES (sqlc.arg(topic_id), sqlc.arg(copy), sqlc.arg(topic), sqlc.arg(partition), int8multirange(int8range(sqlc.arg(first_offset)::bigint, sqlc.arg(past_offset)::bigint)))
ON CONFLICT (topic_id, copy, partition) DO UPDATE SET offsets = lost_ranges.offsets + excluded.offsets, found_at = now();

-- name: LostRanges :many
SELECT topic_id, topic, partition, found_at, lower(one)::bigint AS first_offset, upper(one)::bigint AS past_offset
FROM lost_ranges, unnest(offsets) AS one WHERE copy = sqlc.arg(copy) ORDER BY topic, topic_id, partition, lower(one);
