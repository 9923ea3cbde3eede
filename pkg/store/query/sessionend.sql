-- name: EndSessions :many
-- Ends sessions without activity since a time, and returns them. It works for all accounts at
-- once. Two processes end different ones. Those that began later are left out by the index: the others but a few are over.
UPDATE sessions s SET ended_at = s.last_active_at
FROM access_links a
WHERE s.id IN (
        SELECT o.id FROM sessions o WHERE o.ended_at IS NULL AND o.started_at < sqlc.arg(before)::timestamptz AND o.last_active_at < sqlc.arg(before)::timestamptz
        ORDER BY o.started_at LIMIT sqlc.arg(row_limit)::bigint FOR UPDATE SKIP LOCKED)
    AND a.account_id = s.account_id AND a.id = s.access_link_id
RETURNING sqlc.embed(s), a.lead_magnet_id, a.generic_link_id, a.submission_id, a.email, a.source;

-- name: CountersCaughtUp :one
-- Until when everything that happened is counted. There is no row before the counters ever were.
SELECT finished_at FROM rounds WHERE service = 'counters';
