-- Records that Kafka deleted before a consumer stored them (package ingest/logbook).

-- +goose Up
CREATE TABLE lost_ranges (
    number          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    topic_id        uuid NOT NULL,
    topic           text NOT NULL,
    partition       integer NOT NULL,
    first_offset    bigint NOT NULL,
    last_offset     bigint NOT NULL CHECK (last_offset >= first_offset),
    found_at        timestamptz(3) NOT NULL DEFAULT now(),
    acknowledged_at timestamptz(3), -- NULL: the alarm is raised
    note            text,           -- of who acknowledged it
    UNIQUE (topic_id, partition, first_offset)
);

-- +goose Down
DROP TABLE lost_ranges;
