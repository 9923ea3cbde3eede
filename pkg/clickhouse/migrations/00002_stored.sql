-- +goose Up

-- When the server took a row, by its own clock: what readers of what is new go by, since an event may
-- have waited in a spool or in Kafka long after it was received. The time is that of the beginning of
-- the insert, so rows can appear a little behind one another; query/scope tells how far back it is settled.
-- Rows that are there already are taken for stored when they were received: with now64 in their place
-- each read would give another time.
ALTER TABLE lodestone.events
    ADD COLUMN IF NOT EXISTS stored_at DateTime64(3, 'UTC') MATERIALIZED received_at CODEC(DoubleDelta, ZSTD(1));
ALTER TABLE lodestone.events MATERIALIZE COLUMN stored_at SETTINGS mutations_sync = 1;
ALTER TABLE lodestone.events
    MODIFY COLUMN stored_at DateTime64(3, 'UTC') MATERIALIZED now64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1));

-- Events are stored in about the order they happened in, so a granule spans little of this.
ALTER TABLE lodestone.events ADD INDEX IF NOT EXISTS stored stored_at TYPE minmax GRANULARITY 1;
ALTER TABLE lodestone.events MATERIALIZE INDEX stored SETTINGS mutations_sync = 1;
ALTER TABLE lodestone.events DROP INDEX IF EXISTS received;

-- +goose Down
ALTER TABLE lodestone.events ADD INDEX received received_at TYPE minmax GRANULARITY 1;
ALTER TABLE lodestone.events DROP INDEX stored;
ALTER TABLE lodestone.events DROP COLUMN stored_at;
