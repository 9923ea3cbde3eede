-- name: LookUpSession :one
-- A session that is alive, by the hash of its key or that of its cookie, with what decides its scopes. The seconds are those until
-- it ends if nothing happens. The one to whom it belongs is still one of the account's people, and the key still works.
SELECT s.id, s.account_id, s.user_id, s.key_id, s.method, m.role, k.scopes, coalesce(u.email, '')::text AS email, coalesce(k.name, '')::text AS key_name, a.name AS account_name,
    extract(epoch FROM least(user_session_end(s.started_at, s.last_active_at, s.ended_at), k.expires_at) - clock_timestamp())::float8 AS seconds_left
FROM user_sessions s
JOIN accounts a ON a.id = s.account_id
LEFT JOIN memberships m ON m.account_id = s.account_id AND m.user_id = s.user_id
LEFT JOIN users u ON u.id = m.user_id
LEFT JOIN api_keys k ON k.account_id = s.account_id AND k.id = s.key_id AND k.revoked_at IS NULL
WHERE (s.cookie_hash = sqlc.narg(cookie_hash) OR s.key_hash = sqlc.narg(key_hash))
    AND least(user_session_end(s.started_at, s.last_active_at, s.ended_at), k.expires_at) > clock_timestamp()
    AND num_nonnulls(m.role, k.id) = 1;

-- name: NoteSessionActivity :exec
-- Once a minute, so that a busy session is not written by every page.
WITH active AS (
    UPDATE user_sessions SET last_active_at = clock_timestamp() WHERE id = $1 AND last_active_at < clock_timestamp() - interval '1 minute'
    RETURNING user_sessions.account_id, user_sessions.user_id
)
UPDATE memberships SET last_seen_at = clock_timestamp() FROM active
WHERE memberships.account_id = active.account_id AND memberships.user_id = active.user_id;

-- name: InsertUserSession :exec
-- Who signs in is seen: activity is noted a minute later at the earliest.
WITH begun AS (
    INSERT INTO user_sessions (id, account_id, user_id, key_id, method, cookie_hash, key_hash, user_agent)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
    RETURNING user_sessions.account_id, user_sessions.user_id
)
UPDATE memberships SET last_seen_at = clock_timestamp() FROM begun
WHERE memberships.account_id = begun.account_id AND memberships.user_id = begun.user_id;

-- name: EndSessionOfCookie :exec
UPDATE user_sessions SET ended_at = date_trunc('milliseconds', clock_timestamp())
WHERE cookie_hash = $1 AND user_session_end(started_at, last_active_at, ended_at) > clock_timestamp();

-- name: EndSessionByID :exec
UPDATE user_sessions SET ended_at = date_trunc('milliseconds', clock_timestamp())
WHERE id = $1 AND user_session_end(started_at, last_active_at, ended_at) > clock_timestamp();

-- name: EndSessionsOfUser :many
-- Every session of a user, in whatever account.
UPDATE user_sessions SET ended_at = date_trunc('milliseconds', clock_timestamp())
WHERE user_id = $1 AND user_session_end(started_at, last_active_at, ended_at) > clock_timestamp()
RETURNING id, account_id;

-- name: ForgetUserSessions :exec
DELETE FROM user_sessions WHERE user_session_end(started_at, last_active_at, ended_at) < clock_timestamp() - interval '48 hours';
