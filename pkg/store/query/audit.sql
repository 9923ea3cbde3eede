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

-- name: NameObjects :many
-- What objects are called now, and the object whose screen has them. Those that are gone are left out.
SELECT 'lead_magnet' AS type, id, title::text AS name, NULL::uuid AS parent_id FROM lead_magnets WHERE id = ANY (sqlc.arg(ids)::uuid[])
UNION ALL SELECT 'generic_link', id, slug, lead_magnet_id FROM generic_links WHERE id = ANY (sqlc.arg(ids))
UNION ALL SELECT 'access_link', id, email, lead_magnet_id FROM access_links WHERE id = ANY (sqlc.arg(ids))
UNION ALL SELECT 'submission', id, email, generic_link_id FROM submissions WHERE id = ANY (sqlc.arg(ids))
UNION ALL SELECT 'share', id, coalesce(name, ''), lead_magnet_id FROM shares WHERE id = ANY (sqlc.arg(ids))
UNION ALL SELECT 'utm_template', id, name, NULL FROM utm_templates WHERE id = ANY (sqlc.arg(ids))
UNION ALL SELECT 'alert_rule', id, kind, NULL FROM alert_rules WHERE id = ANY (sqlc.arg(ids))
UNION ALL SELECT 'webhook', id, url, NULL FROM webhook_endpoints WHERE id = ANY (sqlc.arg(ids))
UNION ALL SELECT 'key', id, prefix, NULL FROM api_keys WHERE id = ANY (sqlc.arg(ids))
UNION ALL SELECT 'user', id, email, NULL FROM users WHERE id = ANY (sqlc.arg(ids))
UNION ALL SELECT 'invitation', id, email, NULL FROM invitations WHERE id = ANY (sqlc.arg(ids))
UNION ALL SELECT 'session', s.id, coalesce(u.email, k.name, ''), NULL FROM user_sessions s
    LEFT JOIN users u ON u.id = s.user_id LEFT JOIN api_keys k ON k.id = s.key_id WHERE s.id = ANY (sqlc.arg(ids));
