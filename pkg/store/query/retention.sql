-- name: RetentionSetting :one
SELECT * FROM retention_setting;

-- name: LockRetentionSetting :one
-- The setting cannot change until the transaction ends.
SELECT * FROM retention_setting FOR UPDATE;

-- name: SetRetention :exec
UPDATE retention_setting SET months = sqlc.arg(months), next_months = sqlc.narg(next_months), next_at = sqlc.narg(next_at), changed_at = now();

-- name: AddRetention :exec
-- Records the first setting, which takes effect after a delay.
INSERT INTO retention_setting (months, next_months, next_at)
SELECT 0, nullif(sqlc.arg(months)::integer, 0),
    CASE WHEN sqlc.arg(months)::integer > 0 THEN now() + make_interval(secs => sqlc.arg(delay_seconds)::float8) END
ON CONFLICT DO NOTHING;

-- name: KeysMoved :one
-- Whether keys of a topic may have moved from one shard to another, with a topic that was created again.
SELECT (count(DISTINCT topic_id) > count(DISTINCT topic))::boolean AS moved FROM partition_placements;

-- name: RetentionProgress :one
SELECT * FROM retention_progress WHERE shard = sqlc.arg(shard);

-- name: BeginRetention :exec
INSERT INTO retention_progress (shard, month, step, month_rows) VALUES (sqlc.arg(shard), sqlc.arg(month), sqlc.arg(step), sqlc.arg(month_rows))
ON CONFLICT (shard) DO UPDATE SET month = excluded.month, step = excluded.step, month_rows = excluded.month_rows,
    after_account = excluded.after_account, buckets = 0, written = 0, changed_at = now();

-- name: SetRetentionProgress :exec
UPDATE retention_progress SET after_account = sqlc.arg(after_account), buckets = sqlc.arg(buckets), written = sqlc.arg(written), changed_at = now()
WHERE shard = sqlc.arg(shard) AND step = sqlc.arg(step);

-- name: EndRetention :exec
DELETE FROM retention_progress WHERE shard = sqlc.arg(shard) AND step = sqlc.arg(step);

-- name: NoteExpiry :exec
-- Notes that sessions of a month leave, once the counters have what was stored until now.
INSERT INTO session_expiry AS e (month, noted_at) VALUES (sqlc.arg(month), now())
ON CONFLICT (single) DO UPDATE SET month = excluded.month, noted_at = excluded.noted_at, after_link = excluded.after_link,
    after_session = excluded.after_session, finished = false
WHERE e.month < excluded.month;

-- name: NextExpiry :one
-- What is to be deleted next, unless another process is at it, or events from before the month was deleted are not counted yet.
SELECT e.month, e.after_link, e.after_session FROM session_expiry e
WHERE NOT e.finished AND e.noted_at < (SELECT max(r.finished_at) FROM rounds r WHERE r.service = 'counters') FOR UPDATE SKIP LOCKED;

-- name: ExpireSessions :one
-- Looks at the next sessions, in the order of links, and deletes those whose month left. It returns the last one that it looked at.
WITH looked AS MATERIALIZED (
    SELECT s.link_id, s.session, s.month FROM counted_sessions s
    WHERE (s.link_id, s.session) > (sqlc.arg(after_link)::uuid, sqlc.arg(after_session)::uuid)
    ORDER BY s.link_id, s.session LIMIT sqlc.arg(max_sessions)::integer
), deleted AS (
    DELETE FROM counted_sessions c USING looked
    WHERE looked.month <= sqlc.arg(month)::integer AND c.link_id = looked.link_id AND c.session = looked.session AND c.month <= sqlc.arg(month)::integer
)
SELECT looked.link_id, looked.session FROM looked ORDER BY looked.link_id DESC, looked.session DESC LIMIT 1;

-- name: ExpireSuspects :execrows
-- Deletes some suspects whose events left with a month. A session that began on its last day may have events in the next, with which it leaves.
DELETE FROM suspects WHERE id IN (
    SELECT s.id FROM suspects s
    WHERE s.started_at < (to_date(sqlc.arg(month)::integer::text, 'YYYYMM') + interval '1 month' - interval '1 day') AT TIME ZONE 'UTC'
    LIMIT sqlc.arg(max_suspects)::bigint);

-- name: SetExpiry :exec
UPDATE session_expiry SET after_link = sqlc.arg(after_link), after_session = sqlc.arg(after_session), finished = sqlc.arg(finished);
