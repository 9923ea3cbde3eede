-- +goose Up

-- What left with the months that --retention-months let go (package ingest/retention): how often a link
-- was viewed, so that its counter in Postgres does not fall. Steps that did not come to their end do not count.
CREATE TABLE IF NOT EXISTS lodestone.expired_views
(
    account_id UUID,
    link_id    UUID, -- of an access link or a generic link
    step       UInt32,
    views      UInt64,
    first      DateTime64(3, 'UTC'),
    last       DateTime64(3, 'UTC')
)
ENGINE = MergeTree
ORDER BY (account_id, link_id, step)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1;

-- How far each step is: its views are written down, then its month is dropped, then it is done.
CREATE TABLE IF NOT EXISTS lodestone.retention_steps
(
    step  UInt32,
    month UInt32, -- as 202611
    phase Enum8('writing' = 1, 'dropping' = 2, 'done' = 3),
    at    DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
)
ENGINE = MergeTree
ORDER BY (step, phase)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- +goose Down
DROP TABLE lodestone.retention_steps;
DROP TABLE lodestone.expired_views;
