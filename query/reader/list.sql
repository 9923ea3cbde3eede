-- People who read, in the order of the list. The first row of the whole list always comes, since it has the totals: shown
-- says whether a row is of the page that is asked for.
SELECT
    person, access_links, magnets, sessions, pages, page_views, reading_ms, finished, downloads, first_seen_at, last_seen_at,
    score_finished, score_attention, score_returns, score_downloads, score_recency,
    place, total, bots, toUnixTimestamp64Milli(now64(3, 'UTC')) AS asked_at,
    listed AND number > {offset:Int64}
        AND (isNull({after_person:Nullable(String)}) OR (place, name) > ({after_place:Int64}, assumeNotNull({after_person:Nullable(String)}))) AS shown
FROM
(
    SELECT
        *,
        countIf(listed) OVER () AS total,
        sum(bot_events) OVER () AS bots,
        row_number() OVER (ORDER BY listed DESC, place, name) AS number
    FROM
    (
        SELECT
            *,
            page_views > 0 AND pages >= {min_pages:UInt32}
                AND (isNull({finished:Nullable(UInt8)}) OR finished = assumeNotNull({finished:Nullable(UInt8)})) AS listed,
            {direction:Int64} * multiIf({sort:String} = 'score', toInt64(score), {sort:String} = 'reading_ms', toInt64(reading_ms),
                {sort:String} = 'downloads', toInt64(downloads), last_seen_at) AS place,
            toString(person) AS name
        FROM
        (
            SELECT
                *,
/* score */
            FROM
            (
                -- A deleted access link has no person any more: it stands for one.
                SELECT
                    coalesce({person:Nullable(UUID)}, if(l.person_id = toUUID('00000000-0000-0000-0000-000000000000'), of_link.link, l.person_id)) AS person,
                    groupArrayIf(of_link.link, of_link.events > 0) AS access_links,
                    groupUniqArrayArray(of_link.link_magnets) AS magnets,
                    sum(of_link.link_sessions) AS sessions,
                    uniqExactMerge(of_link.link_pages) AS pages,
                    sum(of_link.link_views) AS page_views,
                    sum(of_link.link_ms) AS reading_ms,
                    sum(of_link.link_attention) AS attention_ms,
                    max(of_link.link_finished) AS finished,
                    sum(of_link.link_downloads) AS downloads,
                    minIf(of_link.link_first, of_link.events > 0) AS first_seen_at,
                    maxIf(of_link.link_last, of_link.events > 0) AS last_seen_at,
                    sum(of_link.link_bots) AS bot_events
                FROM
                (
                    SELECT
                        access_link_id AS link,
                        countIf(bot = '') AS events,
                        groupUniqArrayIf(lead_magnet_id, bot = '') AS link_magnets,
                        uniqExactIf(if(session_id = toUUID('00000000-0000-0000-0000-000000000000'), event_id, session_id), bot = '' AND event_type = 'page_viewed') AS link_sessions,
                        uniqExactStateIf((lead_magnet_id, magnet_version, page), bot = '' AND event_type = 'page_viewed' AND page > 0) AS link_pages,
                        countIf(bot = '' AND event_type = 'page_viewed') AS link_views,
                        sumIf(toUInt64(duration_ms), bot = '' AND event_type = 'page_viewed') AS link_ms,
                        sumIf(toUInt64(least(duration_ms, 60000)), bot = '' AND event_type = 'page_viewed') AS link_attention,
                        max(bot = '' AND event_type = 'page_viewed' AND magnet_version > 0 AND page > 0 AND (lead_magnet_id, magnet_version, page) IN (
                            SELECT lead_magnet_id, magnet_version, page_count FROM lodestone.magnet_versions FINAL WHERE account_id = {account:UUID})) AS link_finished,
                        countIf(bot = '' AND event_type = 'download_completed') AS link_downloads,
                        minIf(toUnixTimestamp64Milli(created_at), bot = '') AS link_first,
                        maxIf(toUnixTimestamp64Milli(created_at), bot = '') AS link_last,
                        countIf(bot != '') AS link_bots
                    FROM lodestone.events
                    WHERE account_id = {account:UUID}
                        AND created_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND created_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
                        AND stored_at <= fromUnixTimestamp64Milli({until:Int64}, 'UTC')
                        /* conditions */
                    GROUP BY access_link_id
                ) AS of_link
                LEFT ANY JOIN (SELECT id, person_id FROM lodestone.access_links FINAL WHERE account_id = {account:UUID}) AS l ON l.id = of_link.link
                GROUP BY person
            )
        )
    )
)
WHERE shown OR number = 1
ORDER BY number
LIMIT {rows:UInt64}
