-- Readers with a visit to a page that ended in a time. created_at is when a visit began, and duration_ms how long it took;
-- it ended before the event was received. All access links of a person are one reader, shown by the one that was read last.
-- The first row is of no reader: it has the number of all, and of the page views of bots that were left out.
WITH
    visits AS (
        SELECT
            access_link_id AS link,
            lead_magnet_id AS magnet,
            if(session_id = toUUID('00000000-0000-0000-0000-000000000000'), event_id, session_id) AS session,
            magnet_version AS version,
            page,
            bot,
            least(toUnixTimestamp64Milli(created_at) + least(duration_ms, {longest:UInt32}), toUnixTimestamp64Milli(received_at)) AS seen,
            (seen, kafka_topic_id, kafka_partition, kafka_offset) AS place
        FROM lodestone.events
        WHERE account_id = {account:UUID} AND event_type = 'page_viewed' AND created_at >= fromUnixTimestamp64Milli({since:Int64} - {longest:UInt32}, 'UTC')
            AND seen >= {since:Int64}
    ),
    views AS (
        SELECT v.*, if(l.person_id = toUUID('00000000-0000-0000-0000-000000000000'), v.link, l.person_id) AS person
        FROM visits AS v
        LEFT ANY JOIN
        (
            SELECT id, person_id FROM lodestone.access_links FINAL
            WHERE account_id = {account:UUID} AND id IN (SELECT link FROM visits)
        ) AS l ON l.id = v.link
    ),
    readers AS (
        SELECT argMax((link, magnet, session, version, page), place) AS shown, max(place).1 AS seen
        FROM views
        WHERE bot = ''
        GROUP BY person
    )
SELECT
    toUUID('00000000-0000-0000-0000-000000000000') AS link,
    toUUID('00000000-0000-0000-0000-000000000000') AS magnet,
    toUInt32(0) AS version,
    toUInt32(0) AS page,
    toInt64(uniqExactIf(v.person, v.bot = '')) AS since,
    toInt64(countIf(v.bot != '')) AS seen
FROM views AS v
UNION ALL
SELECT * FROM
(
    SELECT r.shown.1 AS link, r.shown.2, r.shown.4, r.shown.5, toUnixTimestamp64Milli(s.first), r.seen AS seen
    FROM readers AS r
    INNER JOIN
    (
        SELECT access_link_id AS link, if(session_id = toUUID('00000000-0000-0000-0000-000000000000'), event_id, session_id) AS session, min(created_at) AS first
        FROM lodestone.events
        WHERE account_id = {account:UUID} AND bot = '' AND access_link_id IN (SELECT shown.1 FROM readers)
        GROUP BY access_link_id, session
    ) AS s ON s.link = r.shown.1 AND s.session = r.shown.3
    ORDER BY seen DESC, toString(link)
    LIMIT {limit:UInt32}
)
