SELECT toDate(created_at) AS day, toInt64(count()) AS events,
    if(events <= {max_times:Int64}, groupArray({max_times:UInt64})(created_at), []) AS times
FROM lodestone.events
WHERE account_id = {account:UUID}
  AND access_link_id = {access_link:UUID}
  AND lead_magnet_id = {lead_magnet:UUID}
  AND event_type = {event_type:String}
  AND (bot = '') = {human:Bool}
  AND created_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
  AND created_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
  AND stored_at > fromUnixTimestamp64Milli({received_after:Int64}, 'UTC')
GROUP BY day
-- access_link = 0197a1b2-0000-7000-8000-000000000001
-- event_type = download_started
-- from = 1772323200000
-- human = true
-- lead_magnet = 0197a1b2-0000-7000-8000-000000000002
-- max_times = 24
-- received_after = 1772366400000
-- to = 1772409600001
