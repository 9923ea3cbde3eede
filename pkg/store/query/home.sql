-- name: NewestEntries :many
-- The newest forms and sessions. A form that is not confirmed has no access link yet: the id is nil.
(SELECT s.id, s.submitted_at AS at, s.email, m.title, 'asked'::text AS kind,
  coalesce((SELECT a.id FROM access_links a WHERE a.submission_id = s.id ORDER BY a.id LIMIT 1), '00000000-0000-0000-0000-000000000000')::uuid AS access_link_id
 FROM submissions s JOIN generic_links g ON g.id = s.generic_link_id JOIN lead_magnets m ON m.id = g.lead_magnet_id
 ORDER BY s.submitted_at DESC LIMIT $1)
UNION ALL
(SELECT s.id, s.started_at, a.email, m.title, 'opened', a.id
 FROM sessions s JOIN access_links a ON a.id = s.access_link_id JOIN lead_magnets m ON m.id = a.lead_magnet_id
 ORDER BY s.started_at DESC LIMIT $1)
ORDER BY at DESC LIMIT $1;

-- name: ReadersOf :many
SELECT a.id, a.email, m.title FROM access_links a JOIN lead_magnets m ON m.id = a.lead_magnet_id WHERE a.id = ANY (sqlc.arg(ids)::uuid[]);

-- name: NewestLanding :one
-- The landing page to show a newcomer: the sample, or the newest that is open.
SELECT coalesce(l.title, m.title)::text AS title, l.slug
FROM generic_links l JOIN lead_magnets m ON m.id = l.lead_magnet_id
WHERE l.active AND m.is_active AND EXISTS (SELECT FROM lead_magnet_files f WHERE f.lead_magnet_id = m.id)
ORDER BY l.id = sqlc.arg(sample)::uuid DESC, l.created_at DESC LIMIT 1;
