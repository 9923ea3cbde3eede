-- name: OldestWriter :one
-- A time that is not after the begin of any transaction that runs when the statement is read and may still write. One that wrote
-- nothing for a minute only reads: the API ends its requests sooner. The rows are those of pg_stat_activity.
SELECT least(statement_timestamp(), min(a.xact_start))::timestamptz AS at
FROM pg_stat_get_activity(NULL) AS a
WHERE a.datid = (SELECT own.datid FROM pg_stat_get_activity(pg_backend_pid()) AS own) AND a.pid <> pg_backend_pid()
    AND a.backend_type = 'client backend'
    AND (a.backend_xid IS NOT NULL OR a.xact_start > statement_timestamp() - interval '1 minute');

-- name: OldestUncopied :one
-- The first time that what is mirrored in a copy lacks: of the oldest changes, when they were noted, or what they tell of a time before.
-- Beyond those that are read, a change may be of a transaction that waited for up to a minute.
SELECT least(sqlc.arg(before)::timestamptz, min(least(c.changed_at,
    CASE WHEN s.submitted_at > c.changed_at - interval '1 minute' THEN s.submitted_at END,
    CASE WHEN s.verified_at > c.changed_at - interval '1 minute' THEN s.verified_at END)),
    CASE WHEN count(*) = 1000 THEN max(c.changed_at) - interval '1 minute' END)::timestamptz AS at
FROM (SELECT entity, id, changed_at FROM entity_changes WHERE copy = sqlc.arg(copy) ORDER BY number LIMIT 1000) AS c
LEFT JOIN submissions s ON c.entity = 'submissions' AND s.id = c.id;
