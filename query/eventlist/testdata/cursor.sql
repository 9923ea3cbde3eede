SELECT
    event_id, access_link_id, event_type, event_data, ip_hash, user_agent,
    created_at, kafka_topic_id, kafka_partition, kafka_offset
FROM lodestone.events
WHERE account_id = {account:UUID}
  AND created_at <= fromUnixTimestamp64Milli({cursor_created_at:Int64}, 'UTC')
  AND (created_at, kafka_topic_id, kafka_partition, kafka_offset)
    < (fromUnixTimestamp64Milli({cursor_created_at:Int64}, 'UTC'), {cursor_topic:UUID}, {cursor_partition:Int32}, {cursor_offset:Int64})
ORDER BY created_at DESC, kafka_topic_id DESC, kafka_partition DESC, kafka_offset DESC
LIMIT {limit:UInt64}
-- cursor_created_at = 1772344800000
-- cursor_offset = 41
-- cursor_partition = 2
-- cursor_topic = 0197a1b2-0000-7000-8000-000000000003
-- limit = 21
