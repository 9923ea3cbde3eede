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
            if({unopened:UInt8} = 1, page_views = 0 AND given_at > 0, page_views > 0) AND pages >= {min_pages:UInt32}
                AND furthest >= {reached:UInt32} AND ({stopped_at:UInt32} = 0 OR has(last_viewed, {stopped_at:UInt32}))
                AND (isNull({finished:Nullable(UInt8)}) OR finished = assumeNotNull({finished:Nullable(UInt8)}))
                AND (isNull({downloaded:Nullable(UInt8)}) OR (downloads > 0) = assumeNotNull({downloaded:Nullable(UInt8)}))
                AND (isNull({from_form:Nullable(UInt8)}) OR from_form = assumeNotNull({from_form:Nullable(UInt8)})) AS listed,
            {direction:Int64} * multiIf({sort:String} = 'score', toInt64(score), {sort:String} = 'reading_ms', toInt64(reading_ms),
                {sort:String} = 'downloads', toInt64(downloads), last_seen_at = 0, given_at, last_seen_at) AS place,
            toString(person) AS name
        FROM
        (
            SELECT
                *,
/* score */
            FROM
            (
                SELECT
                    person,
                    groupArrayArray(links) AS access_links,
                    groupArrayIf(magnet, events > 0 OR magnet_given > 0) AS magnets,
                    sum(magnet_sessions) AS sessions,
                    sum(length(magnet_pages)) AS pages,
                    sum(magnet_views) AS page_views,
                    sum(magnet_ms) AS reading_ms,
                    sum(magnet_attention) AS attention_ms,
                    -- The furthest page of each document, of all its versions that count.
                    groupArray(arrayMax(arrayMap(page -> toUInt32(page), arrayPushBack(magnet_pages, 0)))) AS last_viewed,
                    arrayMax(last_viewed) AS furthest,
                    max(hasAny(magnet_pages, last_pages)) AS finished,
                    max(magnet_form) AS from_form,
                    sum(magnet_downloads) AS downloads,
                    minIf(first_event, events > 0) AS first_seen_at,
                    maxIf(last_event, events > 0) AS last_seen_at,
                    sum(magnet_bots) AS bot_events,
                    max(magnet_given) AS given_at
                FROM
                (
                    -- An access link that was deleted has no person any more: it stands for one.
                    SELECT
                        coalesce({person:Nullable(UUID)}, if(l.person_id = toUUID('00000000-0000-0000-0000-000000000000'), e.link, l.person_id)) AS person,
                        e.magnet AS magnet,
                        groupArrayIf(e.link, e.link_events > 0 OR e.link_given > 0) AS links,
                        groupUniqArrayArray(e.link_pages) AS magnet_pages,
                        max(e.link_views > 0 AND NOT l.of_api) AS magnet_form,
                        any(v.last_pages) AS last_pages,
                        sum(e.link_events) AS events,
                        sum(e.link_sessions) AS magnet_sessions,
                        sum(e.link_views) AS magnet_views,
                        sum(e.link_ms) AS magnet_ms,
                        sum(e.link_attention) AS magnet_attention,
                        sum(e.link_downloads) AS magnet_downloads,
                        minIf(e.link_first, e.link_events > 0) AS first_event,
                        maxIf(e.link_last, e.link_events > 0) AS last_event,
                        sum(e.link_bots) AS magnet_bots,
                        max(e.link_given) AS magnet_given
                    FROM
                    (
                        -- An access link has one lead magnet. A page of a version is one number, version and page.
                        SELECT
                            access_link_id AS link,
                            lead_magnet_id AS magnet,
                            countIf(bot = '') AS link_events,
                            uniqExactIf(if(session_id = toUUID('00000000-0000-0000-0000-000000000000'), event_id, session_id), bot = '' AND event_type = 'page_viewed') AS link_sessions,
                            groupUniqArrayIf(bitOr(bitShiftLeft(toUInt64(magnet_version), 32), toUInt64(page)), bot = '' AND event_type = 'page_viewed' AND page > 0) AS link_pages,
                            countIf(bot = '' AND event_type = 'page_viewed') AS link_views,
                            sumIf(toUInt64(duration_ms), bot = '' AND event_type = 'page_viewed') AS link_ms,
                            sumIf(toUInt64(least(duration_ms, 60000)), bot = '' AND event_type = 'page_viewed') AS link_attention,
                            countIf(bot = '' AND event_type = 'download_completed') AS link_downloads,
                            minIf(toUnixTimestamp64Milli(created_at), bot = '') AS link_first,
                            maxIf(toUnixTimestamp64Milli(created_at), bot = '') AS link_last,
                            countIf(bot != '') AS link_bots,
                            toInt64(0) AS link_given
                        FROM lodestone.events
                        WHERE account_id = {account:UUID}
                            AND created_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND created_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
                            /* conditions */
                        GROUP BY access_link_id, lead_magnet_id
                        /* given */
                    ) AS e
                    LEFT ANY JOIN (SELECT id, person_id, source = 'api' AS of_api FROM lodestone.access_links FINAL WHERE account_id = {account:UUID}) AS l ON l.id = e.link
                    LEFT ANY JOIN
                    (
                        SELECT lead_magnet_id, groupArray(bitOr(bitShiftLeft(toUInt64(magnet_version), 32), toUInt64(page_count))) AS last_pages
                        FROM lodestone.magnet_versions FINAL
                        WHERE account_id = {account:UUID} AND magnet_version > 0 AND page_count > 0
                        GROUP BY lead_magnet_id
                    ) AS v ON v.lead_magnet_id = e.magnet
                    GROUP BY person, magnet
                )
                GROUP BY person
            )
        )
    )
)
WHERE shown OR number = 1
ORDER BY number
LIMIT {rows:UInt64}
