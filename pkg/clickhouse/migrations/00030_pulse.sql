-- +goose Up
-- The number that Postgres has in store_pulse: see there.
CREATE TABLE IF NOT EXISTS lodestone.pulse (
    installation UUID,
    number       UInt64,
    beat_at      DateTime64(3, 'UTC')
) ENGINE = ReplacingMergeTree(number) ORDER BY installation;

-- +goose Down
DROP TABLE IF EXISTS lodestone.pulse;
