-- Which consumer group stores a topic's records (package ingest/logbook). Two groups would store every event twice.

-- +goose Up
CREATE TABLE topic_groups (
    topic_id       uuid PRIMARY KEY, -- a topic that was recreated under the same name has another
    topic          text NOT NULL,
    consumer_group text NOT NULL,
    recorded_at    timestamptz(3) NOT NULL DEFAULT now()
);

-- +goose Down
DROP TABLE topic_groups;
