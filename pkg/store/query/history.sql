-- name: AddPastSubmissions :exec
-- Submissions of an account that were sent earlier. The arrays are parallel; a time in the year 1 and an empty text say that there is none.
INSERT INTO submissions (id, account_id, generic_link_id, email, email_key, verification_required, verified, submitted_at, verified_at,
    utm, referrer, consent_text, consented_at)
SELECT p.id, sqlc.arg(account_id), p.link, p.email, p.email_key, p.required, p.verified_at IS NOT NULL, p.submitted_at, p.verified_at,
    p.utm, p.referrer, p.consent_text, CASE WHEN p.consent_text IS NOT NULL THEN p.submitted_at END
FROM (
    SELECT unnest(sqlc.arg(ids)::uuid[]) AS id, unnest(sqlc.arg(links)::uuid[]) AS link, unnest(sqlc.arg(emails)::text[]) AS email,
        unnest(sqlc.arg(email_keys)::text[]) AS email_key, unnest(sqlc.arg(required)::boolean[]) AS required,
        unnest(sqlc.arg(submitted)::timestamptz[]) AS submitted_at,
        nullif(unnest(sqlc.arg(verified)::timestamptz[]), '0001-01-01 00:00:00Z') AS verified_at,
        nullif(unnest(sqlc.arg(sources)::text[]), '')::jsonb AS utm, nullif(unnest(sqlc.arg(referrers)::text[]), '') AS referrer,
        nullif(unnest(sqlc.arg(consents)::text[]), '') AS consent_text
) AS p;

-- name: AddPastAccessLinks :exec
-- Access links of an account that were created and opened earlier. The arrays are parallel; a zero id says that there is none.
INSERT INTO access_links (id, account_id, lead_magnet_id, generic_link_id, submission_id, email, email_key, token_hash, token_sealed, token_key,
    source, additional, verified, opened_count, created_at, updated_at)
SELECT p.id, sqlc.arg(account_id), p.magnet, p.link, p.submission, p.email, p.email_key, p.hash, p.sealed, sqlc.arg(token_key)::smallint,
    p.source, p.source = 'form', p.verified, p.opened, p.at, p.at
FROM (
    SELECT unnest(sqlc.arg(ids)::uuid[]) AS id, unnest(sqlc.arg(magnets)::uuid[]) AS magnet,
        nullif(unnest(sqlc.arg(links)::uuid[]), '00000000-0000-0000-0000-000000000000') AS link,
        nullif(unnest(sqlc.arg(submissions)::uuid[]), '00000000-0000-0000-0000-000000000000') AS submission,
        unnest(sqlc.arg(emails)::text[]) AS email, unnest(sqlc.arg(email_keys)::text[]) AS email_key,
        unnest(sqlc.arg(hashes)::bytea[]) AS hash, unnest(sqlc.arg(sealed)::bytea[]) AS sealed, unnest(sqlc.arg(sources)::text[]) AS source,
        unnest(sqlc.arg(verified)::boolean[]) AS verified, unnest(sqlc.arg(opened)::integer[]) AS opened, unnest(sqlc.arg(created)::timestamptz[]) AS at
) AS p;

-- name: AddPastSessions :exec
-- Sessions of an account that are over. The arrays are parallel; pages are each an array as text.
INSERT INTO sessions (id, account_id, access_link_id, magnet_version, started_at, last_active_at, ended_at, pages, duration_ms)
SELECT p.id, sqlc.arg(account_id), p.link, p.version, p.started_at, p.last_at, p.last_at, p.pages, p.duration
FROM (
    SELECT unnest(sqlc.arg(ids)::uuid[]) AS id, unnest(sqlc.arg(links)::uuid[]) AS link, unnest(sqlc.arg(versions)::integer[]) AS version,
        unnest(sqlc.arg(started)::timestamptz[]) AS started_at, unnest(sqlc.arg(last)::timestamptz[]) AS last_at,
        unnest(sqlc.arg(pages)::text[])::integer[] AS pages, unnest(sqlc.arg(durations)::bigint[]) AS duration
) AS p;

-- name: BackdateMagnet :execrows
UPDATE lead_magnets SET created_at = sqlc.arg(created_at), updated_at = sqlc.arg(updated_at) WHERE id = sqlc.arg(id);

-- name: BackdateFile :execrows
UPDATE lead_magnet_files SET created_at = sqlc.arg(created_at) WHERE lead_magnet_id = sqlc.arg(lead_magnet_id) AND version = sqlc.arg(version);

-- name: BackdateLink :execrows
-- Adds the submissions that a link had earlier as well.
UPDATE generic_links SET created_at = sqlc.arg(created_at), updated_at = sqlc.arg(updated_at), submission_count = submission_count + sqlc.arg(submissions)::bigint
WHERE id = sqlc.arg(id);

-- name: KnowsTopic :one
-- Whether the topic is one of this installation's.
SELECT EXISTS (SELECT FROM topics WHERE topic_id = sqlc.arg(topic_id));
