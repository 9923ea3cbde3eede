-- What the running check (package ingest/verify) knows, shared by the processes that take turns at it.

-- +goose Up
-- One row: the last round.
CREATE TABLE running_check (
    single      boolean PRIMARY KEY DEFAULT true CHECK (single),
    began_at    timestamptz(3) NOT NULL,
    finished_at timestamptz(3) NOT NULL,
    state       jsonb NOT NULL
);

-- What was compared with the log, and how many rows it had. A number that changes later is looked at.
CREATE TABLE verified_blocks (
    topic_id     uuid NOT NULL,
    partition    integer NOT NULL,
    block        bigint NOT NULL,
    first_offset bigint NOT NULL,
    next_offset  bigint NOT NULL,
    row_count    bigint NOT NULL,
    offset_sum   bigint NOT NULL,
    PRIMARY KEY (topic_id, partition, block)
);

-- +goose Down
DROP TABLE verified_blocks, running_check;
