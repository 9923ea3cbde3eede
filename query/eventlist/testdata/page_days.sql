SELECT
    event_id, access_link_id, event_type, event_data, ip_hash, user_agent,
    created_at, kafka_topic_id, kafka_partition, kafka_offset
FROM lodestone.events
WHERE account_id = {account:UUID}
  AND created_at >= fromUnixTimestamp64Milli({span_from:Int64}, 'UTC')
  AND created_at < fromUnixTimestamp64Milli({span_to:Int64}, 'UTC')
  AND toDate(created_at) IN {days:Array(Date)}
ORDER BY created_at DESC, kafka_topic_id DESC, kafka_partition DESC, kafka_offset DESC
LIMIT {limit:UInt64} OFFSET {offset:UInt64}
-- days = ['2026-02-28','2026-02-27']
-- limit = 21
-- offset = 40
-- span_from = 1772150400000
-- span_to = 1772323200000
