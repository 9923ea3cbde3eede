-- name: SetCaughtUp :exec
INSERT INTO counter_state (caught_up_at) VALUES (sqlc.arg(at))
ON CONFLICT (single) DO UPDATE SET caught_up_at = greatest(counter_state.caught_up_at, excluded.caught_up_at);

-- name: CounterProgress :many
SELECT partition, next_offset FROM counter_progress WHERE topic_id = sqlc.arg(topic_id);

-- name: SetCounterProgress :exec
INSERT INTO counter_progress (topic_id, partition, next_offset)
VALUES (sqlc.arg(topic_id), sqlc.arg(partition), sqlc.arg(next_offset))
ON CONFLICT (topic_id, partition) DO UPDATE SET next_offset = excluded.next_offset
WHERE counter_progress.next_offset < excluded.next_offset;

-- name: LinksAfter :many
-- The next access links or generic links in the order of their ids. Each side has a limit, so that it stops at its index.
SELECT account_id, id FROM (
    (SELECT a.account_id, a.id FROM access_links a
        WHERE NOT sqlc.arg(generic)::boolean AND a.id > sqlc.arg(after)::uuid ORDER BY a.id LIMIT sqlc.arg(max_links)::integer)
    UNION ALL
    (SELECT g.account_id, g.id FROM generic_links g
        WHERE sqlc.arg(generic)::boolean AND g.id > sqlc.arg(after)::uuid ORDER BY g.id LIMIT sqlc.arg(max_links)::integer)
) AS links
ORDER BY id;

-- name: SetAccessLinkCounters :exec
-- The arrays are parallel; a time in the year 1 says that there is none.
UPDATE access_links l
SET view_count = n.views, viewed = n.views > 0, first_viewed_at = n.first, last_viewed_at = n.last
FROM (
    SELECT unnest(sqlc.arg(ids)::uuid[]) AS id, unnest(sqlc.arg(views)::bigint[]) AS views,
        nullif(unnest(sqlc.arg(first)::timestamptz[]), '0001-01-01 00:00:00Z') AS first,
        nullif(unnest(sqlc.arg(last)::timestamptz[]), '0001-01-01 00:00:00Z') AS last
) AS n
WHERE l.id = n.id
    AND (l.view_count, l.first_viewed_at, l.last_viewed_at) IS DISTINCT FROM (n.views, n.first, n.last);

-- name: SetGenericLinkCounters :exec
-- The arrays are parallel.
UPDATE generic_links l SET view_count = n.views
FROM (SELECT unnest(sqlc.arg(ids)::uuid[]) AS id, unnest(sqlc.arg(views)::bigint[]) AS views) AS n
WHERE l.id = n.id AND l.view_count <> n.views;

-- name: SetSubmissionCounters :exec
-- Sets the counters of the submissions of access links to the sums over each submission's links.
UPDATE submissions s
SET view_count = n.views, viewed = n.views > 0, first_viewed_at = n.first, last_viewed_at = n.last
FROM (
    SELECT a.submission_id, sum(a.view_count)::bigint AS views, min(a.first_viewed_at) AS first, max(a.last_viewed_at) AS last
    FROM access_links a
    WHERE a.submission_id IN (SELECT b.submission_id FROM access_links b WHERE b.id = ANY (sqlc.arg(ids)::uuid[]))
    GROUP BY a.submission_id
) AS n
WHERE s.id = n.submission_id
    AND (s.view_count, s.first_viewed_at, s.last_viewed_at) IS DISTINCT FROM (n.views, n.first, n.last);

-- name: OpenSessions :many
-- The sessions of links that are not over yet. The arrays are parallel.
SELECT account_id, access_link_id, id, started_at FROM sessions
WHERE ended_at IS NULL AND (account_id, access_link_id) IN (SELECT unnest(sqlc.arg(accounts)::uuid[]), unnest(sqlc.arg(links)::uuid[]));

-- name: SetSessionActivity :exec
-- The arrays are parallel; an element of pages is a Postgres array as text.
UPDATE sessions s
SET last_active_at = greatest(s.last_active_at, n.last), pages = n.pages::integer[], duration_ms = n.duration, downloads = n.downloads
FROM (
    SELECT unnest(sqlc.arg(ids)::uuid[]) AS id, unnest(sqlc.arg(last)::timestamptz[]) AS last,
        unnest(sqlc.arg(pages)::text[]) AS pages, unnest(sqlc.arg(durations)::bigint[]) AS duration,
        unnest(sqlc.arg(downloads)::integer[]) AS downloads
) AS n
WHERE s.id = n.id AND s.ended_at IS NULL
    AND (s.last_active_at < n.last OR (s.pages, s.duration_ms, s.downloads) IS DISTINCT FROM (n.pages::integer[], n.duration, n.downloads));
