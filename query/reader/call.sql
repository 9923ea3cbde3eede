-- People to call: who read since a time, with what is new by it. phase 1 is all that a person did, phase 0 what they did before that time:
-- the score of phase 0 is what it would be now without it. Of those who read since, the ones who read longest are looked at.
WITH
    recent AS (
        SELECT access_link_id AS link, sum(toUInt64(duration_ms)) AS ms
        FROM lodestone.events
        WHERE account_id = {account:UUID} AND bot = '' AND event_type = 'page_viewed' AND created_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
        GROUP BY access_link_id
    ),
    people AS (
        SELECT l.person_id AS person
        FROM recent AS r
        INNER JOIN (SELECT id, person_id FROM lodestone.access_links FINAL WHERE account_id = {account:UUID} AND id IN (SELECT link FROM recent)) AS l ON l.id = r.link
        GROUP BY person
        ORDER BY sum(r.ms) DESC, toString(person)
        LIMIT {candidates:UInt32}
    ),
    links AS (
        SELECT id, person_id FROM lodestone.access_links FINAL WHERE account_id = {account:UUID} AND person_id IN (SELECT person FROM people)
    )
SELECT person, link, seen_at, previous_at, finished_now, score_now, score_then
FROM
(
    SELECT
        person,
        argMax(last_link, phase) AS link,
        max(last_view) AS seen_at,
        maxIf(if(last_view >= {today:Int64}, view_before_today, view_before), phase = 1) AS previous_at,
        groupArrayIf(finished_magnets, phase = 1) AS of_now,
        groupArrayIf(finished_magnets, phase = 0) AS of_then,
        arrayFilter(magnet -> NOT has(arrayFlatten(of_then), magnet), arrayFlatten(of_now)) AS finished_now,
        toUInt8(maxIf(score, phase = 1)) AS score_now,
        toUInt8(maxIf(score, phase = 0)) AS score_then
    FROM
    (
        SELECT
            *,
/* score */
        FROM
        (
            SELECT
                person,
                phase,
                argMax(magnet_link, magnet_view) AS last_link,
                max(magnet_view) AS last_view,
                max(magnet_before_today) AS view_before_today,
                max(magnet_before) AS view_before,
                groupArrayIf(magnet, magnet_finished) AS finished_magnets,
                max(magnet_finished) AS finished,
                sum(magnet_sessions) AS sessions,
                sum(magnet_attention) AS attention_ms,
                sum(magnet_downloads) AS downloads,
                max(magnet_last) AS last_seen_at
            FROM
            (
                SELECT
                    l.person_id AS person,
                    e.magnet AS magnet,
                    e.phase AS phase,
                    argMax(e.link, e.link_view) AS magnet_link,
                    max(e.link_view) AS magnet_view,
                    max(e.link_before_today) AS magnet_before_today,
                    max(e.link_before) AS magnet_before,
                    hasAny(groupUniqArrayArray(e.link_pages), any(v.last_pages)) AS magnet_finished,
                    sum(e.link_sessions) AS magnet_sessions,
                    sum(e.link_attention) AS magnet_attention,
                    sum(e.link_downloads) AS magnet_downloads,
                    max(e.link_last) AS magnet_last
                FROM
                (
                    SELECT
                        access_link_id AS link,
                        lead_magnet_id AS magnet,
                        phase,
                        maxIf(at, viewed) AS link_view,
                        maxIf(at, viewed AND at < {today:Int64}) AS link_before_today,
                        maxIf(at, viewed AND at < {since:Int64}) AS link_before,
                        uniqExactIf(session, viewed) AS link_sessions,
                        groupUniqArrayIf(bitOr(bitShiftLeft(toUInt64(magnet_version), 32), toUInt64(page)), viewed AND page > 0) AS link_pages,
                        sumIf(toUInt64(least(duration_ms, 60000)), viewed) AS link_attention,
                        countIf(event_type = 'download_completed') AS link_downloads,
                        max(at) AS link_last
                    FROM
                    (
                        SELECT
                            access_link_id, lead_magnet_id, magnet_version, page, duration_ms, event_type,
                            event_type = 'page_viewed' AS viewed,
                            toUnixTimestamp64Milli(created_at) AS at,
                            if(session_id = toUUID('00000000-0000-0000-0000-000000000000'), event_id, session_id) AS session,
                            arrayJoin(if(at < {since:Int64}, [0, 1], [1])) AS phase
                        FROM lodestone.events
                        WHERE account_id = {account:UUID} AND bot = '' AND access_link_id IN (SELECT id FROM links)
                    )
                    GROUP BY access_link_id, lead_magnet_id, phase
                ) AS e
                INNER JOIN links AS l ON l.id = e.link
                LEFT ANY JOIN
                (
                    SELECT lead_magnet_id, groupArray(bitOr(bitShiftLeft(toUInt64(magnet_version), 32), toUInt64(page_count))) AS last_pages
                    FROM lodestone.magnet_versions FINAL
                    WHERE account_id = {account:UUID} AND magnet_version > 0 AND page_count > 0
                    GROUP BY lead_magnet_id
                ) AS v ON v.lead_magnet_id = e.magnet
                GROUP BY person, magnet, phase
            )
            GROUP BY person, phase
        )
    )
    GROUP BY person
)
WHERE notEmpty(finished_now) OR previous_at > 0 OR (score_now >= {min_score:Int64} AND score_then < {min_score:Int64})
ORDER BY score_now DESC, seen_at DESC, toString(person)
