-- On which ClickHouse shard the rows of a Kafka partition are (package placement). It never changes: looks for what is stored of a
-- partition, and the tokens of its blocks, are of one server.

-- +goose Up
CREATE TABLE partition_placements (
    topic_id  uuid NOT NULL, -- a topic that was recreated under the same name has another
    partition integer NOT NULL,
    topic     text NOT NULL,
    shard     integer NOT NULL CHECK (shard BETWEEN 1 AND 65535),
    placed_at timestamptz(3) NOT NULL DEFAULT now(),
    PRIMARY KEY (topic_id, partition)
);

-- +goose Down
DROP TABLE partition_placements;
