-- name: LinksMatching :one
-- The access links whose address has a text in it, as 16 bytes each (as in LinksOfAddress), up to a maximum. An address can be spelled in
-- two ways, of which one may match: all its links are found.
SELECT coalesce(string_agg(uuid_send(m.id), ''), '')::bytea AS ids
FROM (
    SELECT a.id FROM access_links a
    WHERE a.account_id = sqlc.arg(account_id) AND a.email_key IN (
        SELECT k.email_key FROM access_links k
        WHERE k.account_id = sqlc.arg(account_id)
            AND (strpos(k.email_key, sqlc.arg(typed)::text) > 0 OR strpos(k.email_key, sqlc.arg(key)::text) > 0 OR strpos(lower(k.email), sqlc.arg(typed)::text) > 0))
    LIMIT sqlc.arg(row_limit)::bigint) AS m;

-- name: AddressesOfLinks :many
-- Oldest first.
SELECT id, email FROM access_links
WHERE account_id = sqlc.arg(account_id) AND id = ANY (sqlc.arg(ids)::uuid[])
ORDER BY created_at, id;

-- name: TitlesOfLeadMagnets :many
SELECT id, title FROM lead_magnets WHERE account_id = sqlc.arg(account_id) AND id = ANY (sqlc.arg(ids)::uuid[]);

-- name: LinksOfReader :many
-- The access links of the address that a link is for, oldest first.
SELECT a.id, a.lead_magnet_id, a.generic_link_id, a.submission_id, a.email, a.source, a.is_active, a.max_views, a.expires_at, a.created_at
FROM access_links a
WHERE a.account_id = sqlc.arg(account_id) AND a.email_key = (
    SELECT l.email_key FROM access_links l WHERE l.account_id = sqlc.arg(account_id) AND l.id = sqlc.arg(id))
ORDER BY a.created_at, a.id;

-- name: SubmissionsOfReader :many
-- The submissions that these links were created for, oldest first.
SELECT s.id, s.generic_link_id, g.lead_magnet_id, s.email, g.collect_name, s.name,
    s.verification_required, s.verified, s.verified_at, (c.view_count > 0)::boolean AS viewed, s.utm, s.referrer, s.consent_text, s.privacy_url, s.consented_at, s.submitted_at, g.fields, s.answers
FROM submissions s JOIN generic_links g ON g.account_id = s.account_id AND g.id = s.generic_link_id
JOIN counted_submissions c ON c.id = s.id
WHERE s.account_id = sqlc.arg(account_id) AND s.id = ANY (sqlc.arg(ids)::uuid[])
ORDER BY s.submitted_at, s.id;
