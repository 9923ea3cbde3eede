-- name: LinksMatching :one
-- The access links of people whose address, name or note has a text in it, who have a status, and who sent a form with answers, as 16 bytes
-- each (as in LinksOfAddress), up to a maximum. Null is any. An address can be spelled in two ways, of which one may match: all its links are
-- found. Whom nothing was written down about has the usual status.
SELECT coalesce(string_agg(uuid_send(m.id), ''), '')::bytea AS ids
FROM (
    SELECT a.id FROM access_links a
    WHERE a.account_id = sqlc.arg(account_id) AND (sqlc.narg(lead_magnet)::uuid IS NULL OR a.lead_magnet_id = sqlc.narg(lead_magnet))
        AND (sqlc.narg(typed)::text IS NULL OR a.email_key IN (
        SELECT k.email_key FROM access_links k
        WHERE k.account_id = sqlc.arg(account_id)
            AND (strpos(k.email_key, sqlc.narg(typed)::text) > 0 OR strpos(k.email_key, sqlc.arg(key)::text) > 0 OR strpos(lower(k.email), sqlc.narg(typed)::text) > 0)
        UNION ALL
        SELECT p.email_key FROM profiles p
        WHERE p.account_id = sqlc.arg(account_id)
            AND strpos(search_text(concat_ws(chr(10), p.name, p.note)), search_text(sqlc.narg(typed)::text)) > 0
        UNION ALL
        SELECT k.email_key FROM submissions s JOIN access_links k ON k.account_id = s.account_id AND k.submission_id = s.id
        WHERE s.account_id = sqlc.arg(account_id) AND strpos(search_text(s.name), search_text(sqlc.narg(typed)::text)) > 0
        UNION ALL
        SELECT k.email_key FROM recipients r JOIN access_links k ON k.account_id = r.account_id AND k.id = r.id
        WHERE r.account_id = sqlc.arg(account_id) AND strpos(search_text(r.name), search_text(sqlc.narg(typed)::text)) > 0))
        AND (sqlc.narg(status)::text IS NULL OR sqlc.narg(status) = sqlc.narg(usual)::text OR a.email_key IN (
            SELECT o.email_key FROM profiles o WHERE o.account_id = sqlc.arg(account_id) AND o.status = sqlc.narg(status)))
        AND (sqlc.narg(status)::text IS NULL OR sqlc.narg(status) <> sqlc.narg(usual)::text OR a.email_key NOT IN (
            SELECT o.email_key FROM profiles o WHERE o.account_id = sqlc.arg(account_id) AND o.status <> sqlc.narg(status)))
        AND (sqlc.narg(answers)::jsonb IS NULL OR a.email_key IN (
            SELECT g.email_key FROM submissions f JOIN access_links g ON g.account_id = f.account_id AND g.submission_id = f.id
            WHERE f.account_id = sqlc.arg(account_id) AND lower(f.answers::text)::jsonb @> lower(sqlc.narg(answers)::jsonb::text)::jsonb))
    LIMIT sqlc.arg(row_limit)::bigint) AS m;

-- name: StatusOfNone :one
-- The status of people whom nothing was written down about.
SELECT open_statuses[1]::text FROM accounts WHERE id = sqlc.arg(account_id);

-- name: LinksOfOtherStatus :one
-- The access links of people who have another status than the usual one, as in LinksMatching.
SELECT coalesce(string_agg(uuid_send(m.id), ''), '')::bytea AS ids
FROM (
    SELECT a.id FROM access_links a
    WHERE a.account_id = sqlc.arg(account_id) AND (sqlc.narg(lead_magnet)::uuid IS NULL OR a.lead_magnet_id = sqlc.narg(lead_magnet))
        AND a.email_key IN (
        SELECT p.email_key FROM profiles p WHERE p.account_id = sqlc.arg(account_id) AND p.status <> sqlc.arg(status)::text)
    LIMIT sqlc.arg(row_limit)::bigint) AS m;

-- name: NamesOfLinks :many
-- What an account calls its generic links.
SELECT id, name::text AS name FROM generic_links WHERE account_id = sqlc.arg(account_id) AND id = ANY (sqlc.arg(ids)::uuid[]) AND name IS NOT NULL;

-- name: PeopleOfLinks :many
-- Who access links are for, the oldest link first.
WITH links AS MATERIALIZED (
    SELECT a.id, a.email, a.email_key, a.created_at FROM access_links a
    WHERE a.account_id = sqlc.arg(account_id) AND a.id = ANY (sqlc.arg(ids)::uuid[])
), named AS MATERIALIZED (
    SELECT l.email_key, coalesce(person_name(sqlc.arg(account_id)::uuid, l.email_key), '') AS name FROM links l GROUP BY l.email_key
)
SELECT l.id, l.email, n.name::text AS name, coalesce(p.status, c.open_statuses[1])::text AS status,
    coalesce(p.status = ANY (c.closed_statuses), false)::boolean AS closed
FROM links l JOIN named n ON n.email_key = l.email_key JOIN accounts c ON c.id = sqlc.arg(account_id)
LEFT JOIN profiles p ON p.account_id = sqlc.arg(account_id) AND p.email_key = l.email_key
ORDER BY l.created_at, l.id;

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
