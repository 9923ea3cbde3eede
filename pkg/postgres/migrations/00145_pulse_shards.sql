-- The shards of ClickHouse that have had the number: one of these without it was emptied, and any other one was added.

-- +goose Up
ALTER TABLE store_pulse ADD COLUMN shards integer[] NOT NULL DEFAULT '{}';

-- +goose Down
ALTER TABLE store_pulse DROP COLUMN shards;
