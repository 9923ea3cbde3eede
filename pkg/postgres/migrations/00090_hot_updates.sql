-- +goose NO TRANSACTION
-- Counters, activity and times of last use are written far more often than rows are made. Such an update costs no index and no vacuum if
-- it fits on the row's page and changes no column of an index (a "HOT" update). So pages keep space for it, and open sessions are
-- found by their start, which does not change, instead of their last activity. Nothing here waits for readers or writers, nor they for it.

-- +goose Up
ALTER TABLE access_links SET (fillfactor = 80);
ALTER TABLE submissions SET (fillfactor = 80);
ALTER TABLE generic_links SET (fillfactor = 80);
ALTER TABLE sessions SET (fillfactor = 80);
ALTER TABLE downloads SET (fillfactor = 80);
ALTER TABLE idempotency_keys SET (fillfactor = 70);
ALTER TABLE api_keys SET (fillfactor = 80);
ALTER TABLE user_sessions SET (fillfactor = 80);
ALTER TABLE memberships SET (fillfactor = 80);
ALTER TABLE shares SET (fillfactor = 80);
ALTER TABLE event_usage SET (fillfactor = 70);
ALTER TABLE counter_progress SET (fillfactor = 50);
DROP INDEX CONCURRENTLY IF EXISTS sessions_unended; -- what a try that was interrupted left
CREATE INDEX CONCURRENTLY sessions_unended ON sessions (started_at) WHERE ended_at IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS sessions_open;

-- +goose Down
CREATE INDEX CONCURRENTLY sessions_open ON sessions (last_active_at) WHERE ended_at IS NULL;
DROP INDEX CONCURRENTLY sessions_unended;
