SELECT toDate(created_at) AS day, lead_magnet_id, event_type, bot = '' AS human, toInt64(count()) AS events, min(stored_at), max(stored_at)
FROM lodestone.events
WHERE account_id = {account:UUID}
  AND _part IN {parts:Array(String)}
GROUP BY day, lead_magnet_id, event_type, human
LIMIT {limit:UInt64}
-- limit = 100001
-- parts = ['202602_1_9_2','202602_10_10_0']
