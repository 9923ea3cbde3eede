SELECT
    event_id, access_link_id, event_type, event_data, ip_hash, user_agent,
    created_at, kafka_topic_id, kafka_partition, kafka_offset
FROM lodestone.events
WHERE account_id = {account:UUID}
  AND access_link_id = {access_link:UUID}
  AND lead_magnet_id = {lead_magnet:UUID}
  AND event_type = {event_type:String}
  AND (bot = '') = {human:Bool}
  AND created_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
  AND created_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
  AND stored_at > fromUnixTimestamp64Milli({received_after:Int64}, 'UTC')
  AND created_at >= fromUnixTimestamp64Milli({span_from:Int64}, 'UTC')
  AND created_at < fromUnixTimestamp64Milli({span_to:Int64}, 'UTC')
  AND (toDate(created_at) IN {days:Array(Date)} OR created_at IN {times:Array(DateTime64(3, 'UTC'))})
ORDER BY created_at DESC, kafka_topic_id DESC, kafka_partition DESC, kafka_offset DESC
LIMIT {limit:UInt64}
-- access_link = 0197a1b2-0000-7000-8000-000000000001
-- days = ['2026-02-28']
-- event_type = download_started
-- from = 1772323200000
-- human = true
-- lead_magnet = 0197a1b2-0000-7000-8000-000000000002
-- limit = 21
-- received_after = 1772366400000
-- span_from = 1772150400000
-- span_to = 1772323200000
-- times = ['2026-02-27 00:00:00.000','2026-02-27 00:00:00.001']
-- to = 1772409600001
