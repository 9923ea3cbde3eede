-- name: InsertPicture :exec
-- Adds nothing if there is one already: what two processes make of the same file is the same.
INSERT INTO pictures (id, account_id, kind, lead_magnet_id, version, generic_link_id, content_type, width, height, bytes)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT DO NOTHING;

-- name: PicturesOfLink :many
-- Every picture that the page of a link may show.
SELECT p.id, p.kind, p.content_type, p.width, p.height, p.generic_link_id
FROM generic_links g
JOIN lead_magnets m ON m.account_id = g.account_id AND m.id = g.lead_magnet_id
JOIN pictures p ON p.lead_magnet_id = m.id AND p.version = m.file_version
WHERE g.id = sqlc.arg(id)
UNION ALL
SELECT p.id, p.kind, p.content_type, p.width, p.height, p.generic_link_id FROM pictures p WHERE p.generic_link_id = sqlc.arg(id)::uuid
UNION ALL
SELECT p.id, p.kind, p.content_type, p.width, p.height, p.generic_link_id FROM pictures p
WHERE p.kind = 'logo' AND p.account_id = (SELECT g.account_id FROM generic_links g WHERE g.id = sqlc.arg(id));

-- name: PicturesOfMagnet :many
-- The pictures of the current file, and the logo.
SELECT p.id, p.kind, p.content_type, p.width, p.height
FROM lead_magnets m
JOIN pictures p ON p.lead_magnet_id = m.id AND p.version = m.file_version
WHERE m.id = sqlc.arg(id)
UNION ALL
SELECT p.id, p.kind, p.content_type, p.width, p.height FROM pictures p
WHERE p.kind = 'logo' AND p.account_id = (SELECT m.account_id FROM lead_magnets m WHERE m.id = sqlc.arg(id));

-- name: CoversOfMagnets :many
-- The picture of the first page of each file.
SELECT m.id AS lead_magnet_id, p.id, p.content_type
FROM lead_magnets m
JOIN pictures p ON p.lead_magnet_id = m.id AND p.version = m.file_version AND p.kind = sqlc.arg(kind)
WHERE m.id = ANY (sqlc.arg(ids)::uuid[]);

-- name: OwnLogo :one
SELECT id, content_type, width, height FROM pictures WHERE kind = 'logo';

-- name: DeleteLogo :execrows
DELETE FROM pictures WHERE kind = 'logo';

-- name: UploadedPictures :many
SELECT kind, content_type, width, height, bytes FROM pictures WHERE generic_link_id = sqlc.arg(id)::uuid;

-- name: DeletePicturesOfLink :exec
DELETE FROM pictures WHERE generic_link_id = sqlc.arg(id)::uuid;

-- name: SetLinkThumbnail :one
-- Puts an uploaded picture, or none, in the place of the one that a link had.
UPDATE generic_links SET thumbnail_url = NULL, thumbnail_picture = sqlc.narg(thumbnail_picture),
    revision = revision + 1, updated_at = clock_timestamp()
WHERE id = sqlc.arg(id) RETURNING *;

-- name: DeletePicturesOfFile :exec
DELETE FROM pictures WHERE lead_magnet_id = sqlc.arg(lead_magnet_id)::uuid AND version = sqlc.arg(version)::integer;

-- name: SetOutline :exec
UPDATE lead_magnet_files SET outline = $3 WHERE lead_magnet_id = $1 AND version = $2;
