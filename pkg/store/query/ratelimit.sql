-- name: CountRequest :one
-- Adds a weight to the present window or begins the next. One statement, so no two requests see the same
-- count; the time is Postgres's, so that all processes mean the same window. A request that waited for
-- the row while another began a new window counts in that one. The count stops at one weight over the quota.
INSERT INTO visitor_counts AS c (policy, subject, started, ends, used)
VALUES (sqlc.arg(policy), sqlc.arg(subject), clock_timestamp(), clock_timestamp() + sqlc.arg(span)::interval, sqlc.arg(weight)::integer)
ON CONFLICT (policy, subject) DO UPDATE SET
    used = CASE WHEN c.ends > excluded.started THEN least(c.used, sqlc.arg(quota)::integer) + excluded.used ELSE excluded.used END,
    started = CASE WHEN c.ends > excluded.started THEN c.started ELSE excluded.started END,
    ends = CASE WHEN c.ends > excluded.started THEN c.ends ELSE excluded.ends END
RETURNING used, extract(epoch FROM greatest(ends - clock_timestamp(), '0'))::float8 AS seconds_left;

-- name: ForgetCounts :execrows
DELETE FROM visitor_counts WHERE ends < clock_timestamp();
