-- One visitor's views of a landing page count once a minute. Counters that were set before are set again.

-- +goose Up
DELETE FROM counter_progress p USING topic_partitions t
WHERE t.topic_id = p.topic_id AND t.topic = 'lodestone.link_views';

-- +goose Down
DELETE FROM counter_progress p USING topic_partitions t
WHERE t.topic_id = p.topic_id AND t.topic = 'lodestone.link_views';
