-- The index of accounts beyond their plan names a column that changes with an account's limit only, not with each count: an index whose condition
-- names the count makes each count an update of all indexes.

-- +goose Up
ALTER TABLE event_usage ADD COLUMN exceeded boolean NOT NULL GENERATED ALWAYS AS (coalesce(events >= event_limit, false)) STORED;
DROP INDEX event_usage_exceeded;
CREATE INDEX event_usage_exceeded ON event_usage (month) WHERE exceeded;

-- +goose Down
DROP INDEX event_usage_exceeded;
ALTER TABLE event_usage DROP COLUMN exceeded;
CREATE INDEX event_usage_exceeded ON event_usage (month) WHERE events >= event_limit;
