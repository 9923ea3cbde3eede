-- name: LinkCounters :many
-- The counters of access links and generic links. Generic links have no times.
SELECT id, account_id, view_count, first_viewed_at, last_viewed_at FROM counted_access_links WHERE id = ANY (sqlc.arg(ids)::uuid[])
UNION ALL
SELECT id, account_id, view_count, NULL, NULL FROM counted_generic_links WHERE id = ANY (sqlc.arg(ids)::uuid[]);

-- name: RunningCheck :one
SELECT state, finished_at, extract(epoch FROM clock_timestamp() - began_at)::float8 AS age FROM rounds WHERE service = sqlc.arg(service);

-- name: SetRunningCheck :exec
-- The check began with the transaction.
INSERT INTO rounds (service, began_at, finished_at, state) VALUES (sqlc.arg(service), now(), clock_timestamp(), sqlc.arg(state))
ON CONFLICT (service) DO UPDATE SET began_at = excluded.began_at, finished_at = excluded.finished_at, state = excluded.state;
