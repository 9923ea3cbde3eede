-- name: InsertMagnet :one
INSERT INTO lead_magnets (id, account_id, title, description) VALUES ($1, $2, $3, $4) RETURNING *;

-- name: GetMagnet :one
SELECT sqlc.embed(m), f.file_name, f.content_type, f.file_size, f.page_count,
    (SELECT count(*) FROM generic_links g WHERE g.account_id = m.account_id AND g.lead_magnet_id = m.id) AS generic_link_count,
    (SELECT count(*) FROM access_links a WHERE a.account_id = m.account_id AND a.lead_magnet_id = m.id) AS access_link_count
FROM lead_magnets m
LEFT JOIN lead_magnet_files f ON f.account_id = m.account_id AND f.lead_magnet_id = m.id AND f.version = m.file_version
WHERE m.id = $1;

-- name: ListMagnets :many
SELECT sqlc.embed(m), f.file_name, f.content_type, f.file_size, f.page_count,
    (SELECT count(*) FROM generic_links g WHERE g.account_id = m.account_id AND g.lead_magnet_id = m.id) AS generic_link_count,
    (SELECT count(*) FROM access_links a WHERE a.account_id = m.account_id AND a.lead_magnet_id = m.id) AS access_link_count
FROM lead_magnets m
LEFT JOIN lead_magnet_files f ON f.account_id = m.account_id AND f.lead_magnet_id = m.id AND f.version = m.file_version
ORDER BY m.created_at DESC, m.id DESC
LIMIT sqlc.arg(row_limit)::bigint OFFSET sqlc.arg(row_offset)::bigint;

-- name: CountMagnets :one
SELECT count(*) FROM lead_magnets;

-- name: LockMagnet :one
SELECT * FROM lead_magnets WHERE id = $1 FOR NO KEY UPDATE;

-- name: ShareMagnet :one
-- Reads a lead magnet that stays until the transaction has added a link to it.
SELECT * FROM lead_magnets WHERE id = $1 FOR KEY SHARE;

-- name: SetMagnetVersion :exec
UPDATE lead_magnets SET file_version = $2, revision = revision + 1, updated_at = clock_timestamp() WHERE id = $1;

-- name: InsertFile :exec
INSERT INTO lead_magnet_files (lead_magnet_id, version, account_id, file_name, content_type, file_size, page_count, sha256)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8);

-- name: InsertChunk :exec
INSERT INTO lead_magnet_file_chunks (lead_magnet_id, version, number, account_id, bytes)
VALUES ($1, $2, $3, $4, $5);

-- name: GetFile :one
SELECT f.* FROM lead_magnet_files f
JOIN lead_magnets m ON m.account_id = f.account_id AND m.id = f.lead_magnet_id AND m.file_version = f.version
WHERE m.id = $1;

-- name: GetChunk :one
SELECT bytes FROM lead_magnet_file_chunks WHERE lead_magnet_id = $1 AND version = $2 AND number = $3;

-- name: UpdateMagnet :execrows
-- Changes what is given, if the lead magnet is at one of the revisions, or at any for null.
UPDATE lead_magnets SET
    title = coalesce(sqlc.narg(title), title),
    description = CASE WHEN sqlc.arg(set_description)::boolean THEN sqlc.narg(description) ELSE description END,
    is_active = coalesce(sqlc.narg(is_active), is_active),
    revision = revision + 1, updated_at = clock_timestamp()
WHERE id = sqlc.arg(id) AND (sqlc.narg(revisions)::bigint[] IS NULL OR revision = ANY (sqlc.narg(revisions)::bigint[]));

-- name: TakeMagnet :one
-- Takes a lead magnet so that no link can be added to it until the transaction ends.
SELECT revision FROM lead_magnets WHERE id = $1 FOR UPDATE;

-- name: CountMagnetLinks :one
SELECT (SELECT count(*) FROM generic_links g WHERE g.lead_magnet_id = sqlc.arg(id)) AS generic_links,
    (SELECT count(*) FROM access_links a WHERE a.lead_magnet_id = sqlc.arg(id)) AS access_links;

-- name: TakeLinksOfMagnet :exec
SELECT FROM generic_links WHERE lead_magnet_id = $1 ORDER BY id FOR UPDATE;

-- name: DeleteGenericLinksOfMagnet :exec
DELETE FROM generic_links WHERE lead_magnet_id = $1;

-- name: DeleteAccessLinksOfMagnet :exec
DELETE FROM access_links WHERE lead_magnet_id = $1;

-- name: DeleteMagnet :exec
DELETE FROM lead_magnets WHERE id = $1;
