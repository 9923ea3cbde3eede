SELECT
    event_id, access_link_id, event_type, event_data, ip_hash, user_agent,
    created_at, kafka_topic_id, kafka_partition, kafka_offset,
    account_id
FROM lodestone.events
WHERE account_id IN {accounts:Array(UUID)}
  AND stored_at > fromUnixTimestamp64Milli({stored_after:Int64}, 'UTC') AND stored_at <= fromUnixTimestamp64Milli({stored_until:Int64}, 'UTC')
ORDER BY kafka_topic_id, kafka_partition, kafka_offset
LIMIT {limit:UInt64}
-- limit = 21
-- stored_after = 1772150400000
-- stored_until = 1775001600000
