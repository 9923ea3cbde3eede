-- name: CountOtherViews :one
-- The views without the one of a name.
SELECT count(*) FROM views WHERE (screen, name) <> (sqlc.arg(screen)::text, sqlc.arg(name)::text);

-- name: CountListedViews :one
SELECT count(*) FROM views WHERE sqlc.narg(screen)::text IS NULL OR screen = sqlc.narg(screen);

-- name: SaveView :one
-- Adds a view, or puts it in the place of the one of its name.
INSERT INTO views (id, account_id, screen, name, parameters) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT ON CONSTRAINT views_name DO UPDATE SET parameters = excluded.parameters, created_at = excluded.created_at
RETURNING *;

-- name: ListViews :many
SELECT * FROM views WHERE sqlc.narg(screen)::text IS NULL OR screen = sqlc.narg(screen)
ORDER BY screen, lower(name), id
LIMIT sqlc.arg(row_limit)::bigint OFFSET sqlc.arg(row_offset)::bigint;

-- name: DeleteView :execrows
DELETE FROM views WHERE id = $1;

-- name: EraseViews :exec
-- Deletes what has a person's address, in its name or in what it searches for.
DELETE FROM views WHERE strpos(normalize(lower(concat_ws(chr(10), name, parameters)), NFC), sqlc.arg(email_key)::text) > 0
    AND created_at <= sqlc.arg(until)::timestamptz;
