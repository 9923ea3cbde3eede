-- name: CountViews :one
SELECT count(*) FROM views;

-- name: CountListedViews :one
SELECT count(*) FROM views WHERE sqlc.narg(screen)::text IS NULL OR screen = sqlc.narg(screen);

-- name: InsertView :one
INSERT INTO views (id, account_id, screen, name, parameters) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT ON CONSTRAINT views_name DO NOTHING
RETURNING *;

-- name: ListViews :many
SELECT * FROM views WHERE sqlc.narg(screen)::text IS NULL OR screen = sqlc.narg(screen)
ORDER BY screen, lower(name), id
LIMIT sqlc.arg(row_limit)::bigint OFFSET sqlc.arg(row_offset)::bigint;

-- name: DeleteView :execrows
DELETE FROM views WHERE id = $1;

-- name: EraseViews :exec
-- Deletes what searches for a person's address.
DELETE FROM views WHERE strpos(lower(parameters::text), sqlc.arg(email_key)::text) > 0 AND created_at <= sqlc.arg(until)::timestamptz;
