-- name: CountLinks :one
SELECT count(*) FROM generic_links;

-- name: InsertLink :one
-- Adds nothing if the slug is taken, by whatever account.
INSERT INTO generic_links (id, account_id, lead_magnet_id, slug, title, description, thumbnail_url, collect_name, require_verification)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT ON CONSTRAINT generic_links_slug DO NOTHING
RETURNING *;

-- name: GetLink :one
SELECT * FROM generic_links WHERE id = $1;

-- name: ListLinks :many
SELECT * FROM generic_links
WHERE sqlc.narg(lead_magnet_id)::uuid IS NULL OR lead_magnet_id = sqlc.narg(lead_magnet_id)
ORDER BY created_at DESC, id DESC
LIMIT sqlc.arg(row_limit)::bigint OFFSET sqlc.arg(row_offset)::bigint;

-- name: CountListedLinks :one
SELECT count(*) FROM generic_links
WHERE sqlc.narg(lead_magnet_id)::uuid IS NULL OR lead_magnet_id = sqlc.narg(lead_magnet_id);
