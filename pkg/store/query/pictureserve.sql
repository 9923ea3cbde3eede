-- name: ServePicture :one
-- For everybody: run outside of any account.
SELECT content_type, bytes FROM pictures WHERE id = $1;

-- name: UnpicturedFiles :many
-- For the installation: files in use whose pictures were never attempted.
SELECT f.* FROM lead_magnet_files f
JOIN lead_magnets m ON m.account_id = f.account_id AND m.id = f.lead_magnet_id AND m.file_version = f.version
WHERE NOT f.pictured AND f.lead_magnet_id > sqlc.arg(after)::uuid
ORDER BY f.lead_magnet_id
LIMIT sqlc.arg(row_limit)::bigint;
