-- name: FindFile :one
-- A version of a file; the current one for null.
SELECT f.* FROM lead_magnet_files f
JOIN lead_magnets m ON m.account_id = f.account_id AND m.id = f.lead_magnet_id
WHERE m.id = sqlc.arg(id) AND f.version = coalesce(sqlc.narg(version)::integer, m.file_version);

-- name: ListFiles :many
SELECT version, file_name, file_size, page_count, created_at, discarded_at, unreadable_page FROM lead_magnet_files
WHERE lead_magnet_id = sqlc.arg(lead_magnet_id)
ORDER BY version DESC
LIMIT sqlc.arg(row_limit)::bigint OFFSET sqlc.arg(row_offset)::bigint;

-- name: CountFiles :one
SELECT count(*) FROM lead_magnet_files WHERE lead_magnet_id = $1;

-- name: PagePicture :one
SELECT content_type, bytes FROM page_pictures WHERE lead_magnet_id = $1 AND version = $2 AND page = $3;

-- name: InsertPagePicture :exec
-- Adds nothing if there is one already: what two processes make of the same page is the same. Nor does it for a version that was deleted
-- or discarded meanwhile.
INSERT INTO page_pictures (lead_magnet_id, version, page, account_id, content_type, bytes)
SELECT f.lead_magnet_id, f.version, sqlc.arg(page)::integer, f.account_id, sqlc.arg(content_type)::text, sqlc.narg(bytes)::bytea
FROM lead_magnet_files f
WHERE f.lead_magnet_id = sqlc.arg(lead_magnet_id) AND f.version = sqlc.arg(version) AND f.discarded_at IS NULL
 ON CONFLICT DO NOTHING;
