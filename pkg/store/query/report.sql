-- Events that crud saw and that wait to be reported to the collector: jobs of the account that the transaction is scoped to.

-- name: ReportsOfPerson :many
-- Those that wait, and those that were sent or given up and are not removed yet.
SELECT args, state::text AS state FROM river_job
WHERE kind = sqlc.arg(kind) AND args ->> 'access_link_id' = ANY (sqlc.arg(access_link_ids)::uuid[]::text[]) ORDER BY id;

-- name: BlankReports :exec
-- The event is reported all the same, since it counts: only what it says about the visitor goes.
UPDATE river_job SET args = args - 'language' - 'country' || '{"user_agent": ""}'::jsonb
WHERE kind = sqlc.arg(kind) AND args ->> 'access_link_id' = ANY (sqlc.arg(access_link_ids)::uuid[]::text[]);
