SELECT
    event_id, access_link_id, event_type, event_data, ip_hash, user_agent,
    created_at, kafka_topic_id, kafka_partition, kafka_offset
FROM lodestone.events
WHERE account_id = {account:UUID}
  AND created_at >= fromUnixTimestamp64Milli({span_from:Int64}, 'UTC')
ORDER BY created_at DESC, kafka_topic_id DESC, kafka_partition DESC, kafka_offset DESC
LIMIT {limit:UInt64}
-- limit = 21
-- span_from = 1772150400000
