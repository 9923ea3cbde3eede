SELECT toDate(created_at) AS day, min(stored_at), max(stored_at)
FROM lodestone.events
WHERE account_id = {account:UUID}
  AND _part IN {parts:Array(String)}
GROUP BY day
-- parts = ['202602_1_9_2','202602_10_10_0']
