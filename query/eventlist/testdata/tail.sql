SELECT
    event_id, access_link_id, event_type, event_data, ip_hash, user_agent,
    created_at, kafka_topic_id, kafka_partition, kafka_offset,
    lead_magnet_id, bot != '', stored_at
FROM lodestone.events
WHERE account_id = {account:UUID}
  AND _part IN {parts:Array(String)}
  AND created_at >= fromUnixTimestamp64Milli({span_from:Int64}, 'UTC')
ORDER BY created_at DESC, kafka_topic_id DESC, kafka_partition DESC, kafka_offset DESC
LIMIT {limit:UInt64}
-- limit = 2000
-- parts = ['202602_1_9_2','202602_10_10_0']
-- span_from = 1772150400000
