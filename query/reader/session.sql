-- The sessions of access links, newest first, without bots; each with the first of its events in the order of time.
SELECT
    access_link_id, session, named, magnet, started_at, last_event_at, agent, kind, page_views, pages, reading_ms, events,
    first.1 AS times, first.5 AS types, first.6 AS versions, first.7 AS numbers, first.8 AS durations
FROM
(
    SELECT
        access_link_id,
        session,
        max(session_id) != toUUID('00000000-0000-0000-0000-000000000000') AS named,
        any(lead_magnet_id) AS magnet,
        toUnixTimestamp64Milli(min(created_at)) AS started_at,
        toUnixTimestamp64Milli(max(created_at)) AS last_event_at,
        max(user_agent) AS agent,
        argMax(device_kind, user_agent) AS kind,
        countIf(event_type = 'page_viewed') AS page_views,
        uniqExactIf((magnet_version, page), event_type = 'page_viewed' AND page > 0) AS pages,
        sumIf(toUInt64(duration_ms), event_type = 'page_viewed') AS reading_ms,
        count() AS events,
        groupArraySorted(5000)((toUnixTimestamp64Milli(created_at), kafka_topic_id, kafka_partition, kafka_offset, toString(event_type), magnet_version, page, duration_ms)) AS first
    FROM
    (
        SELECT *, device AS device_kind, if(session_id = toUUID('00000000-0000-0000-0000-000000000000'), event_id, session_id) AS session
        FROM lodestone.events
        WHERE account_id = {account:UUID} AND access_link_id IN {access_links:Array(UUID)} AND bot = ''
    )
    GROUP BY access_link_id, session
    ORDER BY started_at DESC, toString(session), toString(access_link_id)
    LIMIT {max_sessions:UInt64}
)
ORDER BY started_at DESC, toString(session), toString(access_link_id)
