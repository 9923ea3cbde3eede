SELECT toDate(created_at) AS day, toInt64(count()) AS events
FROM lodestone.events
WHERE account_id = {account:UUID}
  AND lead_magnet_id = {lead_magnet:UUID}
  AND event_type = {event_type:String}
  AND (bot = '') = {human:Bool}
  AND created_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
  AND created_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
  AND stored_at > fromUnixTimestamp64Milli({received_after:Int64}, 'UTC')
GROUP BY day
UNION ALL
SELECT toDate(created_at) AS day, toInt64(count()) AS events
FROM lodestone.events
WHERE account_id = {account:UUID}
  AND lead_magnet_id = {lead_magnet:UUID}
  AND event_type = {event_type:String}
  AND (bot = '') = {human:Bool}
  AND created_at >= fromUnixTimestamp64Milli({from_2:Int64}, 'UTC')
  AND created_at < fromUnixTimestamp64Milli({to_2:Int64}, 'UTC')
GROUP BY day
UNION ALL
SELECT toDate(created_at) AS day, -toInt64(count()) AS events
FROM lodestone.events
WHERE account_id = {account:UUID}
  AND lead_magnet_id = {lead_magnet:UUID}
  AND event_type = {event_type:String}
  AND (bot = '') = {human:Bool}
  AND created_at >= fromUnixTimestamp64Milli({from_3:Int64}, 'UTC')
  AND created_at < fromUnixTimestamp64Milli({to_3:Int64}, 'UTC')
  AND stored_at <= fromUnixTimestamp64Milli({received_after:Int64}, 'UTC')
GROUP BY day
-- event_type = download_started
-- from = 1772323200000
-- from_2 = 1772409600000
-- from_3 = 1772409600000
-- human = true
-- lead_magnet = 0197a1b2-0000-7000-8000-000000000002
-- received_after = 1772366400000
-- to = 1772409600000
-- to_2 = 1772409600001
-- to_3 = 1772409600001
