-- The id of this server among the shards that store events together: one row, written by `lodestone migrate`. It is read on every
-- connection that stores events, so that no server is taken for another.

-- +goose Up
CREATE TABLE IF NOT EXISTS lodestone.shard
(
    id       UInt16,
    named_at DateTime('UTC') DEFAULT now('UTC')
)
ENGINE = MergeTree
ORDER BY id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- +goose Down
DROP TABLE lodestone.shard;
