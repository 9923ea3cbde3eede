-- name: SetCaughtUp :exec
INSERT INTO rounds (service, finished_at) VALUES ('counters', sqlc.arg(at))
ON CONFLICT (service) DO UPDATE SET finished_at = greatest(rounds.finished_at, excluded.finished_at);

-- name: CounterProgress :many
-- How far each partition is counted, and a time shortly before which the next rows were stored, the year 1 if none is known.
SELECT partition, next_offset, coalesce(rows_since, '0001-01-01 00:00:00Z')::timestamptz AS rows_since
FROM counted_partitions WHERE topic_id = sqlc.arg(topic_id);

-- name: PartitionProgress :one
-- How far a partition is counted, and a time shortly before which the next rows were stored, the year 1 if none is known.
SELECT coalesce(max(next_offset), 0)::bigint AS next_offset, coalesce(max(rows_since), '0001-01-01 00:00:00Z')::timestamptz AS rows_since
FROM counted_partitions WHERE topic_id = sqlc.arg(topic_id) AND partition = sqlc.arg(partition);

-- name: SetCounterProgress :exec
INSERT INTO counted_partitions AS c (topic_id, partition, next_offset, rows_since)
SELECT sqlc.arg(topic_id), unnest(sqlc.arg(partitions)::integer[]), unnest(sqlc.arg(next_offsets)::bigint[]), sqlc.narg(rows_since)::timestamptz
ON CONFLICT (topic_id, partition) DO UPDATE SET next_offset = excluded.next_offset, rows_since = coalesce(excluded.rows_since, c.rows_since)
WHERE c.next_offset < excluded.next_offset;

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

-- name: AddAccessLinkCounts :exec
-- Makes the missing counters, in an order that all keep, and none of what is deleted meanwhile.
INSERT INTO access_link_counts (id, account_id)
SELECT l.id, l.account_id FROM (
    SELECT t.id, t.account_id FROM access_links t
    WHERE t.id = ANY (sqlc.arg(ids)::uuid[]) AND NOT EXISTS (SELECT FROM access_link_counts c WHERE c.id = t.id)
    ORDER BY t.id FOR KEY SHARE) AS l
ON CONFLICT (id) DO NOTHING;

-- name: LockAccessLinkCounts :many
-- No one else counts these until the transaction ends.
SELECT id FROM access_link_counts WHERE id = ANY (sqlc.arg(ids)::uuid[]) ORDER BY id FOR NO KEY UPDATE;

-- name: ForgetSessions :exec
DELETE FROM counted_sessions WHERE link_id = ANY (sqlc.arg(links)::uuid[]);

-- name: AddSessions :exec
-- Adds sessions to links whose counters are locked; a session that is there already adds no view. The arrays are parallel.
WITH n AS (
    SELECT unnest(sqlc.arg(links)::uuid[]) AS link_id, unnest(sqlc.arg(sessions)::uuid[]) AS session, unnest(sqlc.arg(months)::integer[]) AS month,
        unnest(sqlc.arg(first)::timestamptz[]) AS first, unnest(sqlc.arg(last)::timestamptz[]) AS last
), added AS (
    INSERT INTO counted_sessions AS s (link_id, session, month)
    SELECT n.link_id, n.session, max(n.month) FROM n JOIN access_link_counts c ON c.id = n.link_id GROUP BY n.link_id, n.session
    ON CONFLICT (link_id, session) DO UPDATE SET month = excluded.month WHERE s.month < excluded.month
    RETURNING s.link_id, (s.xmax = 0)::boolean AS is_new
), links AS (
    SELECT link_id, min(first) AS first, max(last) AS last FROM n GROUP BY link_id
), fresh AS (
    SELECT link_id, count(*) AS views FROM added WHERE is_new GROUP BY link_id
)
UPDATE access_link_counts c
SET views = c.views + coalesce(f.views, 0), first_viewed_at = least(c.first_viewed_at, l.first), last_viewed_at = greatest(c.last_viewed_at, l.last)
FROM links l LEFT JOIN fresh f ON f.link_id = l.link_id
WHERE c.id = l.link_id AND (f.views > 0 OR c.first_viewed_at IS NULL OR c.first_viewed_at > l.first OR c.last_viewed_at < l.last);

-- name: ResetAccessLinkCounts :exec
-- Sets counters to what was expired with deleted months, before sessions are added. The arrays are parallel; a time in the year 1 says that
-- there is none.
UPDATE access_link_counts c SET views = n.views, first_viewed_at = n.first, last_viewed_at = n.last
FROM (
    SELECT unnest(sqlc.arg(ids)::uuid[]) AS id, unnest(sqlc.arg(views)::bigint[]) AS views,
        nullif(unnest(sqlc.arg(first)::timestamptz[]), '0001-01-01 00:00:00Z') AS first,
        nullif(unnest(sqlc.arg(last)::timestamptz[]), '0001-01-01 00:00:00Z') AS last
) AS n
WHERE c.id = n.id;

-- name: AddGenericLinkCounts :exec
-- As AddAccessLinkCounts.
INSERT INTO generic_link_counts (id, account_id)
SELECT l.id, l.account_id FROM (
    SELECT t.id, t.account_id FROM generic_links t
    WHERE t.id = ANY (sqlc.arg(ids)::uuid[]) AND NOT EXISTS (SELECT FROM generic_link_counts c WHERE c.id = t.id)
    ORDER BY t.id FOR KEY SHARE) AS l
ON CONFLICT (id) DO NOTHING;

-- name: LockGenericLinkCounts :many
-- No one else counts these until the transaction ends.
SELECT id, minutes_since FROM generic_link_counts WHERE id = ANY (sqlc.arg(ids)::uuid[]) ORDER BY id FOR NO KEY UPDATE;

-- name: GenericLinksSince :many
-- Those of the links that do not have the minute given any more.
SELECT c.id, c.account_id
FROM (SELECT unnest(sqlc.arg(links)::uuid[]) AS link_id, unnest(sqlc.arg(minutes)::timestamptz[]) AS minute) AS n
JOIN generic_link_counts c ON c.id = n.link_id AND n.minute < c.minutes_since
GROUP BY c.id, c.account_id;

-- name: AddMinutes :exec
-- Adds what the links' views have more of each minute than is here. Views of a minute never become fewer. The transaction has locked the
-- links' counters; minutes before the first one of a link are left out.
UPDATE generic_link_counts c SET views = c.views + d.more
FROM (
    SELECT n.link_id, sum(n.views - coalesce(m.views, 0))::bigint AS more
    FROM (SELECT unnest(sqlc.arg(links)::uuid[]) AS link_id, unnest(sqlc.arg(minutes)::timestamptz[]) AS minute, unnest(sqlc.arg(views)::bigint[]) AS views) AS n
    JOIN generic_link_counts g ON g.id = n.link_id AND n.minute >= g.minutes_since
    LEFT JOIN landing_minutes m ON m.link_id = n.link_id AND m.minute = n.minute
    WHERE n.views > coalesce(m.views, 0)
    GROUP BY n.link_id
) AS d
WHERE c.id = d.link_id;

-- name: SetMinutes :exec
-- Sets what AddMinutes added.
INSERT INTO landing_minutes AS m (link_id, minute, views)
SELECT n.link_id, n.minute, n.views
FROM (SELECT unnest(sqlc.arg(links)::uuid[]) AS link_id, unnest(sqlc.arg(minutes)::timestamptz[]) AS minute, unnest(sqlc.arg(views)::bigint[]) AS views) AS n
JOIN generic_link_counts g ON g.id = n.link_id AND n.minute >= g.minutes_since
WHERE n.views > 0
ON CONFLICT (link_id, minute) DO UPDATE SET views = excluded.views WHERE m.views < excluded.views;

-- name: ResetGenericLinkCounts :exec
-- Sets counters of links whose minutes from a time on follow (SetMinutes), and forgets all of their minutes. The arrays are parallel.
WITH forgotten AS (DELETE FROM landing_minutes WHERE link_id = ANY (sqlc.arg(ids)::uuid[]))
UPDATE generic_link_counts c SET views = n.views, minutes_since = sqlc.arg(minutes_since)
FROM (SELECT unnest(sqlc.arg(ids)::uuid[]) AS id, unnest(sqlc.arg(views)::bigint[]) AS views) AS n
WHERE c.id = n.id;

-- name: ForgetMinutes :execrows
-- Forgets the minutes before a time, of some links, and says so in their counters.
WITH old AS (
    SELECT DISTINCT m.link_id FROM landing_minutes m WHERE m.minute < sqlc.arg(before)::timestamptz LIMIT 1000
), locked AS (
    SELECT c.id FROM generic_link_counts c WHERE c.id IN (SELECT old.link_id FROM old) ORDER BY c.id FOR NO KEY UPDATE SKIP LOCKED
), noted AS (
    UPDATE generic_link_counts c SET minutes_since = greatest(c.minutes_since, sqlc.arg(before)::timestamptz)
    WHERE c.id IN (SELECT locked.id FROM locked) RETURNING c.id
)
DELETE FROM landing_minutes m USING noted WHERE m.link_id = noted.id AND m.minute < sqlc.arg(before)::timestamptz;

-- name: CountsOfAccessLinks :many
SELECT id, view_count, first_viewed_at, last_viewed_at FROM counted_access_links WHERE id = ANY (sqlc.arg(ids)::uuid[]);

-- name: CountsOfSubmissions :many
SELECT id, view_count, first_viewed_at, last_viewed_at FROM counted_submissions WHERE id = ANY (sqlc.arg(ids)::uuid[]);

-- name: CountsOfGenericLinks :many
SELECT id, view_count FROM counted_generic_links WHERE id = ANY (sqlc.arg(ids)::uuid[]);

-- name: AddSessionActivity :exec
-- Adds activity to sessions that are not over. The arrays are parallel; an element of pages is a Postgres array as text.
UPDATE sessions s
SET last_active_at = greatest(s.last_active_at, n.last),
    pages = CASE WHEN s.pages @> n.pages::integer[] THEN s.pages ELSE ARRAY(SELECT DISTINCT p FROM unnest(s.pages || n.pages::integer[]) AS p ORDER BY p) END,
    duration_ms = s.duration_ms + n.duration, downloads = s.downloads + n.downloads,
    touched = s.touched OR n.touched, client = coalesce(nullif(n.client, 0), s.client)
FROM (
    SELECT unnest(sqlc.arg(ids)::uuid[]) AS id, unnest(sqlc.arg(links)::uuid[]) AS link_id, unnest(sqlc.arg(last)::timestamptz[]) AS last,
        unnest(sqlc.arg(pages)::text[]) AS pages, unnest(sqlc.arg(durations)::bigint[]) AS duration,
        unnest(sqlc.arg(downloads)::integer[]) AS downloads, unnest(sqlc.arg(touched)::boolean[]) AS touched,
        unnest(sqlc.arg(clients)::bigint[]) AS client
) AS n
WHERE s.id = n.id AND s.access_link_id = n.link_id AND s.ended_at IS NULL;

-- name: CountingCopy :one
SELECT copy FROM counting_copy;

-- name: HoldCountingCopy :one
-- No other copy counts until the transaction ends.
SELECT copy FROM counting_copy FOR SHARE;

-- name: KeepCounting :exec
-- Says that the consumers of the copy that counts are there.
UPDATE counting_copy SET seen_at = clock_timestamp() WHERE copy = sqlc.arg(copy) AND seen_at < clock_timestamp() - interval '5 seconds';

-- name: MayTakeCounting :one
-- Whether the copy that counts is gone, or its consumers have not been there for long.
SELECT coalesce(bool_or(n.seen_at < clock_timestamp() - interval '30 seconds' OR NOT EXISTS (SELECT FROM copies c WHERE c.copy = n.copy)), false)::boolean AS may
FROM counting_copy n WHERE n.copy <> sqlc.arg(copy);

-- name: TakeCounting :execrows
UPDATE counting_copy n SET copy = sqlc.arg(copy), seen_at = clock_timestamp()
WHERE n.copy <> sqlc.arg(copy) AND (n.seen_at < clock_timestamp() - interval '30 seconds' OR NOT EXISTS (SELECT FROM copies c WHERE c.copy = n.copy));
