-- The visits that had events last, and those that are named. An event that was sent without a session is a visit of its own.
WITH
    (
        SELECT groupArray((session, at))
        FROM
        (
            SELECT session, max(created_at) AS at
            FROM
            (
                SELECT if(session_id = toUUID('00000000-0000-0000-0000-000000000000'), event_id, session_id) AS session, created_at
                FROM lodestone.events
                WHERE account_id = {account:UUID}
                ORDER BY created_at DESC, kafka_topic_id DESC, kafka_partition DESC, kafka_offset DESC
                LIMIT {events:UInt64}
            )
            GROUP BY session
            ORDER BY at DESC, toString(session)
            LIMIT {limit:UInt64}
        )
    ) AS latest,
    arrayConcat(latest.1, {known:Array(UUID)}) AS wanted
SELECT
    if(session_id = toUUID('00000000-0000-0000-0000-000000000000'), event_id, session_id) AS visit,
    any(access_link_id),
    any(lead_magnet_id),
    toUInt32(max(magnet_version)),
    toUnixTimestamp64Milli(min(created_at)),
    arraySort(groupUniqArrayIf(1000)(page, event_type = 'page_viewed' AND page > 0)),
    sumIf(toUInt64(duration_ms), event_type = 'page_viewed'),
    countIf(event_type = 'download_completed'),
    countIf(event_type = 'download_started'),
    toUInt8(max(bot != ''))
FROM lodestone.events
WHERE account_id = {account:UUID} AND created_at >= fromUnixTimestamp64Milli(least(toUnixTimestamp64Milli(arrayMin(latest.2)) - {longest:Int64}, {since:Int64}), 'UTC')
    AND has(wanted, visit)
GROUP BY visit
