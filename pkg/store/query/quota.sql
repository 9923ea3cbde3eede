-- name: UsageRound :one
-- The present month, and whether its events are to be counted again.
SELECT date_trunc('month', now() AT TIME ZONE 'UTC')::date AS month,
    NOT EXISTS (SELECT FROM rounds WHERE service = 'usage' AND finished_at > now() - make_interval(secs => sqlc.arg(seconds)::float8)) AS due;

-- name: SetUsage :exec
-- The ids and counts are parallel. A limit of 0 is none. A copy of the events that is behind counts fewer than another one did.
INSERT INTO event_usage (account_id, month, events, event_limit)
SELECT a.id, sqlc.arg(month)::date, coalesce(n.events, 0), nullif(CASE a.plan
    WHEN 'free' THEN sqlc.arg(free)::bigint WHEN 'pro' THEN sqlc.arg(pro)::bigint ELSE sqlc.arg(team)::bigint END, 0)
FROM accounts a LEFT JOIN (SELECT unnest(sqlc.arg(ids)::uuid[]) AS id, unnest(sqlc.arg(counts)::bigint[]) AS events) AS n ON n.id = a.id
ON CONFLICT (account_id) DO UPDATE SET month = excluded.month, event_limit = excluded.event_limit,
    events = CASE WHEN event_usage.month = excluded.month THEN greatest(event_usage.events, excluded.events) ELSE excluded.events END
WHERE (event_usage.month, event_usage.events, event_usage.event_limit) IS DISTINCT FROM (excluded.month, excluded.events, excluded.event_limit);

-- name: EndUsageRound :exec
INSERT INTO rounds (service, finished_at) VALUES ('usage', now()) ON CONFLICT (service) DO UPDATE SET finished_at = excluded.finished_at;

-- name: AccountsBeyondPlan :many
SELECT u.account_id, a.plan, u.event_limit::bigint AS event_limit, u.month FROM event_usage u JOIN accounts a ON a.id = u.account_id
WHERE u.month = date_trunc('month', now() AT TIME ZONE 'UTC')::date AND u.exceeded;
