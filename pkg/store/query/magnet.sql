-- name: InsertMagnet :one
INSERT INTO lead_magnets (id, account_id, title, description, author, author_about, end_text, end_button, end_url, downloadable)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING *;

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
-- Makes a version the current one. The author is set unless there is one, the title if it is given.
UPDATE lead_magnets SET file_version = sqlc.arg(file_version), title = coalesce(sqlc.narg(title), title), author = coalesce(author, sqlc.narg(author)), revision = revision + 1, updated_at = clock_timestamp()
WHERE id = sqlc.arg(id);

-- name: UpdateMagnet :execrows
-- Changes what is given, if the lead magnet is at one of the revisions, or at any for null.
UPDATE lead_magnets SET
    title = coalesce(sqlc.narg(title), title),
    description = CASE WHEN sqlc.arg(set_description)::boolean THEN sqlc.narg(description) ELSE description END,
    is_active = coalesce(sqlc.narg(is_active), is_active),
    downloadable = coalesce(sqlc.narg(downloadable), downloadable),
    author = CASE WHEN sqlc.arg(set_author)::boolean THEN sqlc.narg(author) ELSE author END,
    author_about = CASE WHEN sqlc.arg(set_author_about)::boolean THEN sqlc.narg(author_about) ELSE author_about END,
    end_text = CASE WHEN sqlc.arg(set_end_text)::boolean THEN sqlc.narg(end_text) ELSE end_text END,
    end_button = CASE WHEN sqlc.arg(set_end_button)::boolean THEN sqlc.narg(end_button) ELSE end_button END,
    end_url = CASE WHEN sqlc.arg(set_end_url)::boolean THEN sqlc.narg(end_url) ELSE end_url END,
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

-- name: SumStoredBytes :one
SELECT coalesce(sum(file_size), 0)::bigint FROM lead_magnet_files WHERE discarded_at IS NULL;

-- name: DiscardReplacedFiles :execrows
-- Deletes the bytes and pictures of some versions, of one lead magnet or of any for null, that were replaced so many seconds ago and
-- were not opened within so many. The first time is longer than any transaction: a session that was being opened when the next
-- version came is seen.
WITH old AS MATERIALIZED (
    SELECT f.account_id, f.lead_magnet_id, f.version FROM lead_magnet_files f
    JOIN lead_magnet_files next ON next.lead_magnet_id = f.lead_magnet_id AND next.version = f.version + 1
    WHERE f.discarded_at IS NULL AND (sqlc.narg(lead_magnet_id)::uuid IS NULL OR f.lead_magnet_id = sqlc.narg(lead_magnet_id))
        AND next.created_at < clock_timestamp() - make_interval(secs => sqlc.arg(replaced_seconds)::float8)
        AND NOT EXISTS (
            SELECT FROM access_links a JOIN sessions s ON s.account_id = a.account_id AND s.access_link_id = a.id
            WHERE a.account_id = f.account_id AND a.lead_magnet_id = f.lead_magnet_id AND s.magnet_version = f.version
                AND s.started_at > clock_timestamp() - make_interval(secs => sqlc.arg(opened_seconds)::float8))
    LIMIT sqlc.arg(row_limit)::bigint
), chunks AS (
    DELETE FROM lead_magnet_file_chunks c USING old WHERE c.lead_magnet_id = old.lead_magnet_id AND c.version = old.version
), shown AS (
    DELETE FROM pictures p USING old WHERE p.account_id = old.account_id AND p.lead_magnet_id = old.lead_magnet_id AND p.version = old.version
), paged AS (
    DELETE FROM page_pictures p USING old WHERE p.account_id = old.account_id AND p.lead_magnet_id = old.lead_magnet_id AND p.version = old.version
)
UPDATE lead_magnet_files f SET discarded_at = clock_timestamp(), object_id = NULL
FROM old WHERE f.lead_magnet_id = old.lead_magnet_id AND f.version = old.version;
