-- name: CountLinks :one
SELECT count(*) FROM generic_links;

-- name: InsertLink :one
-- Adds nothing if the slug is taken, by whatever account, or was once another account's.
INSERT INTO generic_links (id, account_id, lead_magnet_id, slug, name, title, headline_b, description, thumbnail_url, collect_name, require_verification,
    button_text, consent_text, privacy_url, redirect_url, language, show_contents, show_pages, show_readers, allowed_origins, reading_notices, expires_at, access_days, fields,
    allowed_emails, blocked_emails, max_people, passcode_hash, agreement_title, agreement_text, watermark)
SELECT sqlc.arg(id), sqlc.arg(account_id), sqlc.arg(lead_magnet_id), sqlc.arg(slug), sqlc.narg(name), sqlc.narg(title), sqlc.narg(headline_b), sqlc.narg(description),
    sqlc.narg(thumbnail_url), sqlc.arg(collect_name), sqlc.arg(require_verification),
    sqlc.narg(button_text), sqlc.narg(consent_text), sqlc.narg(privacy_url), sqlc.narg(redirect_url),
    sqlc.narg(language), sqlc.arg(show_contents), sqlc.arg(show_pages), sqlc.arg(show_readers),
    sqlc.arg(allowed_origins)::text[], sqlc.narg(reading_notices)::text, sqlc.narg(expires_at)::timestamptz, sqlc.narg(access_days)::integer,
    sqlc.arg(fields)::jsonb, sqlc.arg(allowed_emails)::text[], sqlc.arg(blocked_emails)::text[], sqlc.narg(max_people)::integer,
    sqlc.narg(passcode_hash)::text, sqlc.narg(agreement_title)::text, sqlc.narg(agreement_text)::text, sqlc.arg(watermark)::boolean
WHERE NOT slug_of_another(sqlc.arg(slug), sqlc.arg(account_id))
ON CONFLICT ON CONSTRAINT generic_links_slug DO NOTHING
RETURNING *;

-- name: GetLink :one
SELECT * FROM generic_links WHERE id = $1;

-- name: ListLinks :many
SELECT l.* FROM chosen_links(sqlc.narg(lead_magnet_id)::uuid, sqlc.arg(status)::text, sqlc.narg(containing)::text) l
ORDER BY l.created_at DESC, l.id DESC
LIMIT sqlc.arg(row_limit)::bigint OFFSET sqlc.arg(row_offset)::bigint;

-- name: ListLinksOldest :many
-- Lists as ListLinks does, in the other direction of the same index.
SELECT l.* FROM chosen_links(sqlc.narg(lead_magnet_id)::uuid, sqlc.arg(status)::text, sqlc.narg(containing)::text) l
ORDER BY l.created_at, l.id
LIMIT sqlc.arg(row_limit)::bigint OFFSET sqlc.arg(row_offset)::bigint;

-- name: RankLinks :many
-- Lists as ListLinks does, by a number so far, the highest first. That of people who finished looks at every reader of the links.
SELECT l.* FROM chosen_links(sqlc.narg(lead_magnet_id)::uuid, sqlc.arg(status)::text, sqlc.narg(containing)::text) l
ORDER BY CASE sqlc.arg(sort)::text
        WHEN '-view_count' THEN (SELECT c.view_count FROM counted_generic_links c WHERE c.id = l.id)
        WHEN '-submission_count' THEN l.submission_count
        ELSE (SELECT count(DISTINCT a.email_key) FROM access_links a
            JOIN sessions s ON s.account_id = a.account_id AND s.access_link_id = a.id AND NOT s.bot
            JOIN lead_magnet_files f ON f.account_id = a.account_id AND f.lead_magnet_id = a.lead_magnet_id AND f.version = s.magnet_version
            WHERE a.generic_link_id = l.id AND f.page_count = ANY (s.pages))
    END DESC, l.created_at DESC, l.id DESC
LIMIT sqlc.arg(row_limit)::bigint OFFSET sqlc.arg(row_offset)::bigint;

-- name: CountListedLinks :one
SELECT count(*) FROM chosen_links(sqlc.narg(lead_magnet_id)::uuid, sqlc.arg(status)::text, sqlc.narg(containing)::text) l;

-- name: CountHeadlines :many
-- The submissions of a link by the headline that their visitors saw, since the headlines are as they are, and how many of these people read
-- to the last page.
SELECT s.headline_b::boolean AS second, count(*) AS submissions, count(*) FILTER (WHERE EXISTS (
        SELECT FROM access_links a
        JOIN sessions x ON x.account_id = a.account_id AND x.access_link_id = a.id AND NOT x.bot
        JOIN lead_magnet_files f ON f.account_id = a.account_id AND f.lead_magnet_id = a.lead_magnet_id AND f.version = x.magnet_version
        WHERE a.submission_id = s.id AND f.page_count = ANY (x.pages))) AS finished
FROM submissions s JOIN generic_links l ON l.account_id = s.account_id AND l.id = s.generic_link_id
WHERE s.generic_link_id = sqlc.arg(id) AND s.headline_b IS NOT NULL AND s.submitted_at >= coalesce(l.headlines_since, l.created_at)
GROUP BY s.headline_b;

-- name: CopyLink :one
SELECT coalesce(copy_generic_link(sqlc.arg(source), sqlc.arg(id), sqlc.arg(slug)), false)::boolean AS copied;

-- name: UpdateLink :one
-- Changes what is given, if the link is at one of the revisions, or at any for null. An archived link is closed, and one that opens is not
-- archived.
UPDATE generic_links SET
    slug = coalesce(sqlc.narg(slug), slug),
    name = CASE WHEN sqlc.arg(set_name)::boolean THEN sqlc.narg(name) ELSE name END,
    title = CASE WHEN sqlc.arg(set_title)::boolean THEN sqlc.narg(title) ELSE title END,
    headline_b = CASE WHEN sqlc.arg(set_headline_b)::boolean THEN sqlc.narg(headline_b) ELSE headline_b END,
    headlines_since = CASE WHEN sqlc.arg(set_title)::boolean AND title IS DISTINCT FROM sqlc.narg(title)
        OR sqlc.arg(set_headline_b)::boolean AND headline_b IS DISTINCT FROM sqlc.narg(headline_b) THEN clock_timestamp() ELSE headlines_since END,
    description = CASE WHEN sqlc.arg(set_description)::boolean THEN sqlc.narg(description) ELSE description END,
    thumbnail_url = CASE WHEN sqlc.arg(set_thumbnail_url)::boolean THEN sqlc.narg(thumbnail_url) ELSE thumbnail_url END,
    thumbnail_picture = CASE WHEN sqlc.arg(set_thumbnail_url)::boolean THEN NULL ELSE thumbnail_picture END,
    collect_name = coalesce(sqlc.narg(collect_name), collect_name),
    require_verification = coalesce(sqlc.narg(require_verification), require_verification),
    active = coalesce(sqlc.narg(active), active) AND NOT coalesce(sqlc.narg(archived), false),
    archived = coalesce(sqlc.narg(archived), archived AND NOT coalesce(sqlc.narg(active), false)),
    button_text = CASE WHEN sqlc.arg(set_button_text)::boolean THEN sqlc.narg(button_text) ELSE button_text END,
    consent_text = CASE WHEN sqlc.arg(set_consent_text)::boolean THEN sqlc.narg(consent_text) ELSE consent_text END,
    privacy_url = CASE WHEN sqlc.arg(set_privacy_url)::boolean THEN sqlc.narg(privacy_url) ELSE privacy_url END,
    redirect_url = CASE WHEN sqlc.arg(set_redirect_url)::boolean THEN sqlc.narg(redirect_url) ELSE redirect_url END,
    language = CASE WHEN sqlc.arg(set_language)::boolean THEN sqlc.narg(language) ELSE language END,
    show_contents = coalesce(sqlc.narg(show_contents), show_contents),
    show_pages = coalesce(sqlc.narg(show_pages), show_pages),
    show_readers = coalesce(sqlc.narg(show_readers), show_readers),
    reading_notices = CASE WHEN sqlc.arg(set_reading_notices)::boolean THEN sqlc.narg(reading_notices)::text ELSE reading_notices END,
    expires_at = CASE WHEN sqlc.arg(set_expires_at)::boolean THEN sqlc.narg(expires_at)::timestamptz ELSE expires_at END,
    access_days = CASE WHEN sqlc.arg(set_access_days)::boolean THEN sqlc.narg(access_days)::integer ELSE access_days END,
    allowed_origins = coalesce(sqlc.narg(allowed_origins)::text[], allowed_origins),
    fields = coalesce(sqlc.narg(fields)::jsonb, fields),
    allowed_emails = coalesce(sqlc.narg(allowed_emails)::text[], allowed_emails),
    blocked_emails = coalesce(sqlc.narg(blocked_emails)::text[], blocked_emails),
    max_people = CASE WHEN sqlc.arg(set_max_people)::boolean THEN sqlc.narg(max_people)::integer ELSE max_people END,
    passcode_hash = CASE WHEN sqlc.arg(set_passcode)::boolean THEN sqlc.narg(passcode_hash)::text ELSE passcode_hash END,
    agreement_title = CASE WHEN sqlc.arg(set_agreement)::boolean THEN sqlc.narg(agreement_title)::text ELSE agreement_title END,
    agreement_text = CASE WHEN sqlc.arg(set_agreement)::boolean THEN sqlc.narg(agreement_text)::text ELSE agreement_text END,
    watermark = coalesce(sqlc.narg(watermark), watermark),
    revision = revision + 1, updated_at = clock_timestamp()
WHERE id = sqlc.arg(id) AND (sqlc.narg(revisions)::bigint[] IS NULL OR revision = ANY (sqlc.narg(revisions)::bigint[]))
RETURNING *;

-- name: TakeLink :one
-- Takes a link so that nothing can be added to it, nor itself be changed, until the transaction ends.
SELECT revision FROM generic_links WHERE id = $1 FOR UPDATE;

-- name: DetachAccessLinks :exec
-- Clears both references at once. The foreign keys would do it as well, but row by row, each of them
-- a version of its own, which takes a minute where this takes seconds.
UPDATE access_links a SET generic_link_id = NULL, submission_id = NULL, watermark = a.watermark OR g.watermark
FROM generic_links g WHERE g.id = sqlc.arg(id)::uuid AND a.generic_link_id = g.id;

-- name: DeleteLink :exec
-- Its submissions go with it.
DELETE FROM generic_links WHERE id = $1;
