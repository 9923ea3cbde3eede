SELECT day, sum(n) AS events
FROM
(
SELECT toDate(created_at) AS day, toInt64(count()) AS n
FROM lodestone.events
WHERE account_id = {account:UUID}
  AND lead_magnet_id = {lead_magnet:UUID}
  AND event_type = {event_type:String}
  AND (bot = '') = {human:Bool}
  AND created_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
  AND created_at < fromUnixTimestamp64Milli({low:Int64}, 'UTC')
  AND stored_at > fromUnixTimestamp64Milli({received_after:Int64}, 'UTC')
GROUP BY day
UNION ALL
SELECT toDate(created_at) AS day, -toInt64(count()) AS n
FROM lodestone.events
WHERE account_id = {account:UUID}
  AND lead_magnet_id = {lead_magnet:UUID}
  AND event_type = {event_type:String}
  AND (bot = '') = {human:Bool}
  AND created_at >= fromUnixTimestamp64Milli({low:Int64}, 'UTC')
  AND created_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
  AND stored_at <= fromUnixTimestamp64Milli({received_after:Int64}, 'UTC')
GROUP BY day
UNION ALL
SELECT toDate(created_at) AS day, toInt64(count()) AS n
FROM lodestone.events
WHERE account_id = {account:UUID}
  AND lead_magnet_id = {lead_magnet:UUID}
  AND event_type = {event_type:String}
  AND (bot = '') = {human:Bool}
  AND created_at >= fromUnixTimestamp64Milli({low:Int64}, 'UTC')
  AND created_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
GROUP BY day
)
GROUP BY day
HAVING events != 0
-- event_type = download_started
-- human = true
-- lead_magnet = 0197a1b2-0000-7000-8000-000000000002
-- low = 1772366400001
-- received_after = 1772366400000
-- since = 1772323200000
-- to = 1772409600001
