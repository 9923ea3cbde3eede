-- name: CountUTMTemplates :one
SELECT count(*) FROM utm_templates;

-- name: InsertUTMTemplate :one
INSERT INTO utm_templates (id, account_id, name, source, medium, campaign, content, term)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
RETURNING *;

-- name: GetUTMTemplate :one
SELECT * FROM utm_templates WHERE id = $1;

-- name: ListUTMTemplates :many
SELECT * FROM utm_templates
ORDER BY created_at DESC, id DESC
LIMIT sqlc.arg(row_limit)::bigint OFFSET sqlc.arg(row_offset)::bigint;

-- name: UpdateUTMTemplate :one
-- Changes what is given, if the template is at one of the revisions, or at any for null.
UPDATE utm_templates SET
    name = coalesce(sqlc.narg(name), name),
    source = CASE WHEN sqlc.arg(set_source)::boolean THEN sqlc.narg(source) ELSE source END,
    medium = CASE WHEN sqlc.arg(set_medium)::boolean THEN sqlc.narg(medium) ELSE medium END,
    campaign = CASE WHEN sqlc.arg(set_campaign)::boolean THEN sqlc.narg(campaign) ELSE campaign END,
    content = CASE WHEN sqlc.arg(set_content)::boolean THEN sqlc.narg(content) ELSE content END,
    term = CASE WHEN sqlc.arg(set_term)::boolean THEN sqlc.narg(term) ELSE term END,
    revision = revision + 1, updated_at = clock_timestamp()
WHERE id = sqlc.arg(id) AND (sqlc.narg(revisions)::bigint[] IS NULL OR revision = ANY (sqlc.narg(revisions)::bigint[]))
RETURNING *;

-- name: DeleteUTMTemplate :execrows
DELETE FROM utm_templates
WHERE id = sqlc.arg(id) AND (sqlc.narg(revisions)::bigint[] IS NULL OR revision = ANY (sqlc.narg(revisions)::bigint[]));
