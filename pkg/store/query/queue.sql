-- name: QueueDepths :many
-- Jobs by queue and state, and the age in seconds of the oldest. Completed jobs, which are as many as came in a
-- minute, are left out, so that the index alone is read.
SELECT queue, state::text AS state, count(*) AS jobs, coalesce(extract(epoch FROM now() - min(scheduled_at)), 0)::float8 AS age
FROM river_job WHERE state <> 'completed' GROUP BY queue, state;

-- name: WakeQueues :exec
-- Tells the workers of all processes that queues have new jobs.
SELECT pg_notify(current_schema() || '.river_insert', sqlc.arg(notice)::text);
