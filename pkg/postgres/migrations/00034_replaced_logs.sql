-- Partitions whose log lost its end (package ingest/repair): records up to an offset are not those that are stored under it.

-- +goose Up
CREATE TABLE replaced_logs (
    topic_id       uuid NOT NULL,
    topic          text NOT NULL,
    partition      integer NOT NULL,
    through_offset bigint NOT NULL, -- the log counts from the offset after it
    repaired_at    timestamptz(3) NOT NULL DEFAULT now(),
    PRIMARY KEY (topic_id, partition)
);

-- +goose Down
DROP TABLE replaced_logs;
