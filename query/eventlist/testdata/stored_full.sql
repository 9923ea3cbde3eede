SELECT
    event_id, access_link_id, event_type, event_data, ip_hash, user_agent,
    created_at, kafka_topic_id, kafka_partition, kafka_offset,
    account_id
FROM lodestone.events
WHERE account_id IN {accounts:Array(UUID)}
  AND access_link_id = {access_link:UUID}
  AND lead_magnet_id = {lead_magnet:UUID}
  AND event_type = {event_type:String}
  AND (bot = '') = {human:Bool}
  AND created_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
  AND created_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
  AND stored_at > fromUnixTimestamp64Milli({received_after:Int64}, 'UTC')
  AND stored_at > fromUnixTimestamp64Milli({stored_after:Int64}, 'UTC') AND stored_at <= fromUnixTimestamp64Milli({stored_until:Int64}, 'UTC')
  AND (kafka_topic_id, kafka_partition, kafka_offset) > ({topic:UUID}, {partition:Int32}, {offset:Int64})
ORDER BY kafka_topic_id, kafka_partition, kafka_offset
LIMIT {limit:UInt64}
-- access_link = 0197a1b2-0000-7000-8000-000000000001
-- event_type = download_started
-- from = 1772323200000
-- human = true
-- lead_magnet = 0197a1b2-0000-7000-8000-000000000002
-- limit = 21
-- offset = 41
-- partition = 2
-- received_after = 1772366400000
-- stored_after = 1772150400000
-- stored_until = 1775001600000
-- to = 1772409600001
-- topic = 0197a1b2-0000-7000-8000-000000000003
