-- +goose Up
-- How far the retention has written down the views of the month that leaves next, for each ClickHouse shard.
CREATE TABLE retention_progress (
    shard          integer PRIMARY KEY,
    month          integer NOT NULL, -- as 202611
    step           bigint NOT NULL,
    month_rows     bigint NOT NULL,  -- at the start: rows that come later must be written down as well
    after_account  uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    buckets        integer NOT NULL DEFAULT 0, -- of the account after it, if that is written down in parts
    written        integer NOT NULL DEFAULT 0, -- of the buckets
    changed_at     timestamptz(3) NOT NULL DEFAULT now()
) WITH (fillfactor = 50);

-- Counted sessions leave with the month of their last page view, some at a time.
CREATE TABLE session_expiry (
    single   boolean PRIMARY KEY DEFAULT true CHECK (single),
    month    integer NOT NULL,                -- this month and those before are deleted everywhere
    noted_at timestamptz(3) NOT NULL,
    after_link    uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    after_session uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    finished boolean NOT NULL DEFAULT false
) WITH (fillfactor = 50);

-- +goose Down
DROP TABLE session_expiry, retention_progress;
