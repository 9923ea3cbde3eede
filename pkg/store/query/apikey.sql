-- name: LookUpKey :one
-- The key that has a hash and may be used. Seconds until it expires; infinite for one that does not.
SELECT id, account_id, scopes, hash, coalesce(extract(epoch FROM expires_at - clock_timestamp()), 'infinity')::float8 AS seconds_left
FROM api_keys
WHERE hash = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > clock_timestamp());

-- name: NoteKeyUses :exec
UPDATE api_keys SET last_used_at = used.at
FROM (SELECT unnest(sqlc.arg(ids)::uuid[]) AS id, unnest(sqlc.arg(times)::timestamptz[]) AS at) AS used
WHERE api_keys.id = used.id AND (last_used_at IS NULL OR last_used_at < used.at);
