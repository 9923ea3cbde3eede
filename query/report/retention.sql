-- Readers by the interval in which they first read, and by each interval in which they read.
SELECT cohort, arrayJoin(slots) AS slot, count() AS readers
FROM
(
    SELECT
        toInt64(roundDown(toUnixTimestamp64Milli(min(created_at)), {starts:Array(Int64)})) AS cohort,
        groupUniqArray(toInt64(roundDown(toUnixTimestamp64Milli(created_at), {starts:Array(Int64)}))) AS slots
    FROM lodestone.events
    WHERE account_id = {account:UUID} AND lead_magnet_id = {lead_magnet:UUID} AND event_type = 'page_viewed' AND bot = ''
        AND created_at >= fromUnixTimestamp64Milli({first:Int64}, 'UTC') AND created_at < fromUnixTimestamp64Milli({end:Int64}, 'UTC')
    GROUP BY access_link_id
    HAVING min(created_at) >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND min(created_at) < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
)
GROUP BY cohort, slot
