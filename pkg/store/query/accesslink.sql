-- name: InsertAccessLink :one
INSERT INTO access_links (id, account_id, lead_magnet_id, email, email_key, token_hash, token_sealed, token_key, max_views, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
RETURNING *;

-- name: GetAccessLink :one
SELECT sqlc.embed(a), m.file_version
FROM access_links a JOIN lead_magnets m ON m.account_id = a.account_id AND m.id = a.lead_magnet_id
WHERE a.id = $1;

-- name: ListAccessLinks :many
-- Finds the page by ids alone, which an index has, so that the pages before it cost little.
SELECT sqlc.embed(a), m.file_version
FROM access_links a JOIN lead_magnets m ON m.account_id = a.account_id AND m.id = a.lead_magnet_id
WHERE a.id IN (
    SELECT p.id FROM access_links p
    WHERE (sqlc.narg(lead_magnet_id)::uuid IS NULL OR p.lead_magnet_id = sqlc.narg(lead_magnet_id))
        AND (sqlc.narg(submission_id)::uuid IS NULL OR p.submission_id = sqlc.narg(submission_id))
        AND (sqlc.narg(email_key)::text IS NULL OR p.email_key = sqlc.narg(email_key))
        AND (sqlc.narg(is_active)::boolean IS NULL OR p.is_active = sqlc.narg(is_active))
    ORDER BY p.created_at DESC, p.id DESC
    LIMIT sqlc.arg(row_limit)::bigint OFFSET sqlc.arg(row_offset)::bigint)
ORDER BY a.created_at DESC, a.id DESC;

-- name: CountListedAccessLinks :one
SELECT count(*) FROM access_links a
WHERE (sqlc.narg(lead_magnet_id)::uuid IS NULL OR a.lead_magnet_id = sqlc.narg(lead_magnet_id))
    AND (sqlc.narg(submission_id)::uuid IS NULL OR a.submission_id = sqlc.narg(submission_id))
    AND (sqlc.narg(email_key)::text IS NULL OR a.email_key = sqlc.narg(email_key))
    AND (sqlc.narg(is_active)::boolean IS NULL OR a.is_active = sqlc.narg(is_active));

-- name: InsertAccessLinks :many
-- One link for each of the addresses, which are parallel to their ids, keys and tokens.
INSERT INTO access_links (id, account_id, lead_magnet_id, generic_link_id, email, email_key, token_hash, token_sealed, token_key, max_views,
    expires_at)
SELECT unnest(sqlc.arg(ids)::uuid[]), sqlc.arg(account_id), sqlc.arg(lead_magnet_id), sqlc.narg(generic_link_id)::uuid,
    unnest(sqlc.arg(emails)::text[]),
    unnest(sqlc.arg(email_keys)::text[]), unnest(sqlc.arg(token_hashes)::bytea[]), unnest(sqlc.arg(tokens_sealed)::bytea[]), sqlc.arg(token_key),
    sqlc.narg(max_views), sqlc.narg(expires_at)
RETURNING *;

-- name: UpdateAccessLink :execrows
-- Changes what is given, if the link is at one of the revisions, or at any for null.
UPDATE access_links SET
    max_views = CASE WHEN sqlc.arg(set_max_views)::boolean THEN sqlc.narg(max_views) ELSE max_views END,
    expires_at = CASE WHEN sqlc.arg(set_expires_at)::boolean THEN sqlc.narg(expires_at) ELSE expires_at END,
    is_active = coalesce(sqlc.narg(is_active), is_active),
    revision = revision + 1, updated_at = clock_timestamp()
WHERE id = sqlc.arg(id) AND (sqlc.narg(revisions)::bigint[] IS NULL OR revision = ANY (sqlc.narg(revisions)::bigint[]));

-- name: DeleteAccessLink :execrows
DELETE FROM access_links
WHERE id = sqlc.arg(id) AND (sqlc.narg(revisions)::bigint[] IS NULL OR revision = ANY (sqlc.narg(revisions)::bigint[]));

-- name: CountAccessLinksUpTo :one
-- Counts the account's links, up to a maximum.
SELECT count(*) FROM (SELECT FROM access_links LIMIT sqlc.arg(most)::bigint) AS found;

-- name: LinkTokensSealedBy :many
-- The tokens after an id, in its order, that one of the keys sealed.
SELECT id, token_sealed FROM access_links WHERE token_key = ANY (sqlc.arg(keys)::smallint[]) AND id > sqlc.arg(after)
ORDER BY id LIMIT sqlc.arg(row_limit)::bigint;

-- name: SealLinkToken :exec
-- Changes nothing if another process has sealed the token meanwhile.
UPDATE access_links SET token_sealed = sqlc.arg(token_sealed), token_key = sqlc.arg(token_key)
WHERE id = sqlc.arg(id) AND token_sealed = sqlc.arg(was);
