-- name: FindAccessLink :one
-- Tells whose link a token opens. Not scoped: the token is all that a visitor has.
SELECT id, account_id FROM access_links WHERE token_hash = sqlc.arg(token_hash);

-- name: GetOpening :one
-- Reads what decides whether a link can be opened.
SELECT sqlc.embed(a), m.title, m.is_active AS magnet_is_active, m.file_version, f.page_count, o.name AS account_name, o.brand_color, o.brand_font,
    m.end_text, m.end_button, m.end_url, m.downloadable, coalesce(l.language, o.language) AS page_language,
    (a.expires_at IS NOT NULL AND a.expires_at <= clock_timestamp())::boolean AS expired,
    (a.watermark OR coalesce(l.watermark, false))::boolean AS watermarked
FROM access_links a
JOIN accounts o ON o.id = a.account_id
JOIN lead_magnets m ON m.account_id = a.account_id AND m.id = a.lead_magnet_id
LEFT JOIN lead_magnet_files f ON f.account_id = m.account_id AND f.lead_magnet_id = m.id AND f.version = m.file_version
LEFT JOIN generic_links l ON l.account_id = a.account_id AND l.id = a.generic_link_id
WHERE a.id = $1;

-- name: CountOpening :one
-- Counts an opening, if the link can be opened: all conditions hold at the time of the count, also
-- when others open it at the same time. An opening by a program needs one that is left, and spends none.
UPDATE access_links a SET opened_count = opened_count + (NOT sqlc.arg(bot)::boolean)::integer
FROM lead_magnets m
WHERE a.id = sqlc.arg(id) AND m.account_id = a.account_id AND m.id = a.lead_magnet_id
    AND a.is_active AND m.is_active AND m.file_version > 0
    AND (a.expires_at IS NULL OR a.expires_at > clock_timestamp())
    AND (a.max_views IS NULL OR a.opened_count < a.max_views)
RETURNING sqlc.embed(a), m.file_version;

-- name: InsertSession :one
-- Adds a session, and none if the id is taken.
INSERT INTO sessions (id, account_id, access_link_id, magnet_version, bot) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (id) DO NOTHING
RETURNING started_at;

-- name: ResumeSession :one
-- Goes on with a session of a link that had activity in the time given, in milliseconds. A person does not go on with the session of a
-- program, which spent no opening.
UPDATE sessions s SET last_active_at = greatest(s.last_active_at, clock_timestamp())
FROM access_links a, lead_magnets m
WHERE s.id = sqlc.arg(id) AND s.access_link_id = sqlc.arg(access_link_id) AND s.ended_at IS NULL AND s.bot = sqlc.arg(bot)
    AND s.last_active_at > clock_timestamp() - make_interval(secs => sqlc.arg(pause_seconds)::float8)
    AND s.started_at > clock_timestamp() - make_interval(secs => sqlc.arg(longest_seconds)::float8)
    AND a.account_id = s.account_id AND a.id = s.access_link_id AND a.is_active
    AND m.account_id = a.account_id AND m.id = a.lead_magnet_id AND m.is_active
RETURNING sqlc.embed(s), sqlc.embed(a);

-- name: HasOpenSession :one
-- Tells whether a person's session of the link can be gone on with.
SELECT EXISTS (
    SELECT FROM sessions s
    WHERE s.access_link_id = sqlc.arg(access_link_id) AND s.ended_at IS NULL AND NOT s.bot
        AND s.last_active_at > clock_timestamp() - make_interval(secs => sqlc.arg(pause_seconds)::float8)
        AND s.started_at > clock_timestamp() - make_interval(secs => sqlc.arg(longest_seconds)::float8));

-- name: GetSessionFile :one
-- Reads the file of a session that may still be read.
SELECT sqlc.embed(a), sqlc.embed(f), m.title, m.downloadable, s.bot, s.started_at,
    (a.watermark OR coalesce(l.watermark, false))::boolean AS watermarked, coalesce(j.rule, '')::text AS suspect,
    coalesce(j.rule = ANY (o.left_out_suspects), false)::boolean AS left_out
FROM sessions s
JOIN accounts o ON o.id = s.account_id
LEFT JOIN suspects j ON j.account_id = s.account_id AND j.id = s.id
JOIN access_links a ON a.account_id = s.account_id AND a.id = s.access_link_id
JOIN lead_magnets m ON m.account_id = a.account_id AND m.id = a.lead_magnet_id
JOIN lead_magnet_files f ON f.account_id = m.account_id AND f.lead_magnet_id = m.id AND f.version = s.magnet_version
LEFT JOIN generic_links l ON l.account_id = a.account_id AND l.id = a.generic_link_id
WHERE s.id = sqlc.arg(id) AND s.access_link_id = sqlc.arg(access_link_id) AND a.is_active AND m.is_active
    AND s.started_at > clock_timestamp() - make_interval(secs => sqlc.arg(longest_seconds)::float8);

-- name: GetFileVersion :one
SELECT * FROM lead_magnet_files WHERE lead_magnet_id = $1 AND version = $2;

-- name: ReportUnreadable :exec
-- Records the page of a file that a reader's browser could not show. Of several the first stays, and 0, the whole document, before all pages.
UPDATE lead_magnet_files SET unreadable_page = sqlc.arg(page)::integer
WHERE lead_magnet_id = sqlc.arg(lead_magnet_id) AND version = sqlc.arg(version) AND coalesce(unreadable_page > sqlc.arg(page)::integer, true);

-- name: StartDownload :execrows
INSERT INTO downloads (id, account_id, session_id, event_id)
SELECT sqlc.arg(id), sqlc.arg(account_id), sqlc.arg(session_id), sqlc.arg(event_id)
WHERE (SELECT count(*) FROM downloads d WHERE d.session_id = sqlc.arg(session_id)) < sqlc.arg(most)::bigint
ON CONFLICT (id) DO NOTHING;

-- name: GetDownload :one
SELECT * FROM downloads WHERE id = sqlc.arg(id) AND session_id = sqlc.arg(session_id);

-- name: ServeDownload :one
-- Adds the bytes from first up to, and without, last. completed_at is set when they were the last that
-- were missing. No client needs a thousand gaps: one that asks for every other byte gets them, unrecorded.
UPDATE downloads SET
    served = served + int8multirange(int8range(sqlc.arg(first)::bigint, sqlc.arg(last)::bigint)),
    completed_at = CASE WHEN served + int8multirange(int8range(sqlc.arg(first)::bigint, sqlc.arg(last)::bigint))
        @> int8range(0, sqlc.arg(size)::bigint) THEN clock_timestamp() END
WHERE id = sqlc.arg(id) AND completed_at IS NULL AND (SELECT count(*) FROM unnest(served)) < 1000
RETURNING event_id, completed_at;
