-- What a session read, and until when that is known.

-- +goose Up
ALTER TABLE sessions
    ADD COLUMN pages       integer[] NOT NULL DEFAULT '{}', -- seen, each once, in ascending order; set from ClickHouse
    ADD COLUMN duration_ms bigint NOT NULL DEFAULT 0;       -- that pages were visible; set from ClickHouse

-- One row: everything that Kafka had at that moment is counted. As long as it is behind, nobody can
-- tell that a session is over.
CREATE TABLE counter_state (
    single       boolean PRIMARY KEY DEFAULT true CHECK (single),
    caught_up_at timestamptz(3) NOT NULL
);

-- +goose Down
DROP TABLE counter_state;
ALTER TABLE sessions DROP COLUMN duration_ms, DROP COLUMN pages;
