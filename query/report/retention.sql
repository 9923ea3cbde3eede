-- People by the interval in which they first read, and by each interval in which they read.
SELECT cohort, arrayJoin(slots) AS slot, count() AS readers
FROM
(
    SELECT
        toInt64(roundDown(toUnixTimestamp64Milli(min(e.created_at)), {starts:Array(Int64)})) AS cohort,
        groupUniqArray(toInt64(roundDown(toUnixTimestamp64Milli(e.created_at), {starts:Array(Int64)}))) AS slots
    FROM lodestone.events AS e
    LEFT ANY JOIN (SELECT id, person_id FROM lodestone.access_links FINAL WHERE account_id = {account:UUID}) AS l ON l.id = e.access_link_id
    WHERE e.account_id = {account:UUID} AND e.lead_magnet_id = {lead_magnet:UUID} AND e.event_type = 'page_viewed' AND e.bot = ''
        AND e.created_at >= fromUnixTimestamp64Milli({first:Int64}, 'UTC') AND e.created_at < fromUnixTimestamp64Milli({end:Int64}, 'UTC')
        /* conditions */
    GROUP BY if(l.person_id = toUUID('00000000-0000-0000-0000-000000000000'), e.access_link_id, l.person_id)
    HAVING min(e.created_at) >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND min(e.created_at) < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
)
GROUP BY cohort, slot
