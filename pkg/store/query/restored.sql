-- What a restore leaves behind: see the table restored.

-- name: DeliveriesPaused :one
SELECT EXISTS (SELECT FROM restored WHERE resumed_at IS NULL);

-- name: RestoredFrom :one
SELECT * FROM restored;

-- name: RecordRestored :exec
INSERT INTO restored (backup, taken_at) VALUES ($1, $2)
ON CONFLICT (one) DO UPDATE SET backup = EXCLUDED.backup, taken_at = EXCLUDED.taken_at, restored_at = clock_timestamp(), resumed_at = NULL;

-- name: ResumeDeliveries :exec
UPDATE restored SET resumed_at = clock_timestamp() WHERE resumed_at IS NULL;

-- name: WaitingJobs :one
-- Mails and messages that a backup brought: jobs that report an event under its id or repeat an erasure are harmless twice.
SELECT count(*) FROM river_job
WHERE state NOT IN ('completed', 'cancelled', 'discarded') AND kind NOT IN ('report_event', 'erase_again') AND created_at <= sqlc.arg(before)::timestamptz;

-- name: DropWaitingJobs :execrows
DELETE FROM river_job
WHERE state NOT IN ('completed', 'cancelled', 'discarded') AND kind NOT IN ('report_event', 'erase_again') AND created_at <= sqlc.arg(before)::timestamptz;

-- name: WaitingDeliveries :one
SELECT count(*) FROM webhook_deliveries WHERE state = 'pending' AND created_at <= sqlc.arg(before)::timestamptz;

-- name: FailWaitingDeliveries :execrows
-- They stay in the log of webhooks, from which an owner can send them again.
UPDATE webhook_deliveries SET state = 'failed', reason = sqlc.arg(reason)::text, next_attempt_at = NULL, settled_at = clock_timestamp(), claim = NULL, claimed_until = NULL
WHERE state = 'pending' AND created_at <= sqlc.arg(before)::timestamptz;

-- name: EndRestoredSessions :execrows
-- Sessions that a backup brought open are over; who was to be notified may have been.
UPDATE sessions SET ended_at = last_active_at WHERE ended_at IS NULL AND started_at <= sqlc.arg(before)::timestamptz;

-- name: SettleRestoredReadings :execrows
UPDATE reading_notices SET settled_at = clock_timestamp() WHERE settled_at IS NULL AND recorded_at <= sqlc.arg(before)::timestamptz;

-- name: SkipRestoredDigests :exec
-- Daily and weekly mails begin again with what is later than the restore.
UPDATE accounts SET digest_until = greatest(digest_until, sqlc.arg(before)::timestamptz), reported_until = greatest(reported_until, sqlc.arg(before)::timestamptz);

-- name: CompareCopiesNow :exec
-- The mirror compares all copies at its next look.
UPDATE copies SET compared_at = '-infinity';

-- name: ForgetStoredUntil :exec
-- A restored copy lacks what it had stored since its backup.
UPDATE copies SET stored_until = '-infinity' WHERE copy = sqlc.arg(copy);

-- name: ForgetCaughtUp :exec
-- Sessions are not over before what a restored ClickHouse lacks is stored again.
DELETE FROM rounds WHERE service = 'counters';

-- name: GroupsOnRecord :many
SELECT topic_id, topic, consumer_group FROM topic_groups WHERE copy = sqlc.arg(copy);

-- name: FilesInBucket :many
SELECT f.lead_magnet_id, f.version, f.object_id, f.file_size, f.sha256, m.title FROM lead_magnet_files f JOIN lead_magnets m ON m.id = f.lead_magnet_id
WHERE f.object_id IS NOT NULL ORDER BY f.object_id;

-- name: IsFileStored :one
SELECT EXISTS (SELECT FROM lead_magnet_files WHERE lead_magnet_id = $1 AND version = $2 AND discarded_at IS NULL);

-- name: Installation :one
-- The id that all copies of the events have in common.
SELECT installation FROM store_pulse ORDER BY copy LIMIT 1;

-- name: StorePulse :one
SELECT installation, number, beat_at, shards FROM store_pulse WHERE copy = sqlc.arg(copy);

-- name: BeatStorePulse :one
UPDATE store_pulse SET number = number + 1, beat_at = clock_timestamp() WHERE copy = sqlc.arg(copy) RETURNING installation, number, beat_at;

-- name: SetStorePulse :one
UPDATE store_pulse SET number = sqlc.arg(number), beat_at = clock_timestamp() WHERE copy = sqlc.arg(copy) RETURNING installation, number, beat_at;

-- name: RecordPulseShards :exec
UPDATE store_pulse SET shards = sqlc.arg(shards)::integer[] WHERE copy = sqlc.arg(copy) AND shards <> sqlc.arg(shards)::integer[];
