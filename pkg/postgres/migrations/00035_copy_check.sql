-- When the copies of lead magnets and links in ClickHouse were compared last, and with which cluster: after a restore or a
-- fail-over they are compared at once.

-- +goose Up
ALTER TABLE entity_copy
    ADD COLUMN compared_at timestamptz(3) NOT NULL DEFAULT '-infinity',
    ADD COLUMN cluster     text NOT NULL DEFAULT ''; -- system identifier and timeline

-- +goose Down
ALTER TABLE entity_copy DROP COLUMN compared_at, DROP COLUMN cluster;
