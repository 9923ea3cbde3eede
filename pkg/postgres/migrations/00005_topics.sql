-- What the ingestion recorded of Kafka's topics.

-- +goose Up
-- How many partitions each topic had when a process first met it. More partitions move keys, and
-- repeats of an event that then lie in two partitions are not recognised.
CREATE TABLE topic_partitions (
    topic_id    uuid PRIMARY KEY,             -- a topic made anew under the same name has another
    topic       text NOT NULL,
    partitions  integer NOT NULL,
    recorded_at timestamptz(3) NOT NULL DEFAULT now()
);

-- +goose Down
DROP TABLE topic_partitions;
