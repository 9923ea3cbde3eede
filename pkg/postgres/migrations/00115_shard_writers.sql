-- Which replica of a ClickHouse shard writes (package ingest/replica). A shard of one server has no row.

-- +goose Up
CREATE TABLE shard_writers (
    shard     integer     PRIMARY KEY CHECK (shard BETWEEN 1 AND 65535),
    replicas  text[]      NOT NULL, -- the names of those of which a majority has to have a row
    writer    text        NOT NULL CHECK (writer = ANY (replicas)),
    epoch     bigint      NOT NULL DEFAULT 1 CHECK (epoch > 0), -- rises with each writer
    ready     boolean     NOT NULL DEFAULT true,                -- false: the writer is about to take over, and no replica writes
    previous  text        NOT NULL DEFAULT '',                  -- the writer before, while another takes over
    drops     integer     NOT NULL DEFAULT 0,                   -- how many replicas were dropped: part of tokens
    -- When a reader first saw that the shard is not ready. The time of the change itself may be long before it can be seen, while it
    -- waits for a standby.
    closed_at timestamptz(3)
);

-- +goose Down
DROP TABLE shard_writers;
