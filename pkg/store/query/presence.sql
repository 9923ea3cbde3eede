-- name: EmailsOfLinks :many
SELECT id, email FROM access_links WHERE account_id = sqlc.arg(account_id) AND id = ANY (sqlc.arg(ids)::uuid[]);
