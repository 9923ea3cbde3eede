-- name: InsertAudit :exec
-- The actor is the address of the person, or the name of the key.
INSERT INTO audit_log (id, account_id, action, object_id, user_id, session_id, key_id, request_id, actor)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, coalesce((SELECT email FROM users WHERE users.id = $5), (SELECT name FROM api_keys WHERE api_keys.id = $7), ''));

-- name: ListAudit :many
SELECT id, at, action, object_id, actor, user_id, session_id, key_id, request_id FROM audit_log
WHERE (sqlc.narg(user_id)::uuid IS NULL OR user_id = sqlc.narg(user_id))
    AND (sqlc.narg(object_id)::uuid IS NULL OR object_id = sqlc.narg(object_id))
    AND (sqlc.narg(action)::text IS NULL OR action = sqlc.narg(action))
ORDER BY id DESC
LIMIT sqlc.arg(row_limit)::bigint OFFSET sqlc.arg(row_offset)::bigint;

-- name: CountAudit :one
SELECT count(*) FROM audit_log
WHERE (sqlc.narg(user_id)::uuid IS NULL OR user_id = sqlc.narg(user_id))
    AND (sqlc.narg(object_id)::uuid IS NULL OR object_id = sqlc.narg(object_id))
    AND (sqlc.narg(action)::text IS NULL OR action = sqlc.narg(action));
