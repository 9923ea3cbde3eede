-- name: ClaimTopic :one
-- Records the group of a topic that has none, and tells whether the group stored another topic of the name.
INSERT INTO topics (topic_id, topic, consumer_group) VALUES (sqlc.arg(topic_id), sqlc.arg(topic), sqlc.arg(consumer_group)::text)
ON CONFLICT (topic_id) DO UPDATE SET consumer_group = coalesce(topics.consumer_group, excluded.consumer_group)
RETURNING consumer_group::text AS consumer_group, EXISTS (
    SELECT FROM topics AS other WHERE other.topic = topics.topic AND other.topic_id <> topics.topic_id
        AND other.consumer_group = topics.consumer_group
) AS successor;

-- name: AddLostRange :exec
-- May be repeated, also with a range that overlaps what is recorded.
INSERT INTO lost_ranges (topic_id, topic, partition, offsets)
VALUES (sqlc.arg(topic_id), sqlc.arg(topic), sqlc.arg(partition), int8multirange(int8range(sqlc.arg(first_offset)::bigint, sqlc.arg(past_offset)::bigint)))
ON CONFLICT (topic_id, partition) DO UPDATE SET offsets = lost_ranges.offsets + excluded.offsets, found_at = now();

-- name: LostRanges :many
SELECT topic_id, topic, partition, found_at, lower(one)::bigint AS first_offset, upper(one)::bigint AS past_offset
FROM lost_ranges, unnest(offsets) AS one ORDER BY topic, topic_id, partition, lower(one);
