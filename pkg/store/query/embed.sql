-- name: NoteEmbed :exec
-- Where the form of a link was loaded. Written once a minute for an origin, so that a busy page is not written by every visitor.
INSERT INTO embeds AS e (generic_link_id, account_id, seen_origin, seen_at) VALUES ($1, $2, sqlc.arg(origin), clock_timestamp())
ON CONFLICT (generic_link_id) DO UPDATE SET seen_origin = excluded.seen_origin, seen_at = excluded.seen_at
WHERE e.seen_origin IS DISTINCT FROM excluded.seen_origin OR e.seen_at < excluded.seen_at - interval '1 minute';

-- name: NoteRefusedEmbed :exec
-- Where the form of a link was refused, likewise.
INSERT INTO embeds AS e (generic_link_id, account_id, refused_origin, refused_at) VALUES ($1, $2, sqlc.arg(origin), clock_timestamp())
ON CONFLICT (generic_link_id) DO UPDATE SET refused_origin = excluded.refused_origin, refused_at = excluded.refused_at
WHERE e.refused_at IS NULL OR e.refused_at < excluded.refused_at - interval '1 minute';

-- name: GetEmbed :one
SELECT * FROM embeds WHERE generic_link_id = $1;
