-- name: NewestSessions :many
SELECT id, access_link_id, magnet_version, started_at FROM sessions ORDER BY started_at DESC, id LIMIT $1;

-- name: NewestUnopened :many
-- The newest forms whose document was not opened yet. A form that is not confirmed has no access links.
SELECT s.id, s.submitted_at, s.email, m.id AS lead_magnet_id, m.title,
  ARRAY(SELECT l.id FROM access_links l WHERE l.submission_id = s.id ORDER BY l.id)::uuid[] AS access_link_ids
FROM submissions s
JOIN generic_links g ON g.id = s.generic_link_id
JOIN lead_magnets m ON m.id = g.lead_magnet_id
WHERE NOT EXISTS (SELECT FROM access_links l WHERE l.submission_id = s.id AND l.opened_count > 0)
ORDER BY s.submitted_at DESC, s.id LIMIT $1;

-- name: ReadersOf :many
SELECT a.id, a.email, a.lead_magnet_id, m.title, m.file_version
FROM access_links a JOIN lead_magnets m ON m.id = a.lead_magnet_id WHERE a.id = ANY (sqlc.arg(ids)::uuid[]);

-- name: PageCountsOf :many
SELECT lead_magnet_id, version, page_count FROM lead_magnet_files WHERE lead_magnet_id = ANY (sqlc.arg(ids)::uuid[]);

-- name: NewestLanding :one
-- The landing page to show a newcomer: the sample, or the newest that is open.
SELECT coalesce(l.title, m.title)::text AS title, l.slug
FROM generic_links l JOIN lead_magnets m ON m.id = l.lead_magnet_id
WHERE l.active AND m.is_active AND EXISTS (SELECT FROM lead_magnet_files f WHERE f.lead_magnet_id = m.id)
ORDER BY l.id = sqlc.arg(sample)::uuid DESC, l.created_at DESC LIMIT 1;
