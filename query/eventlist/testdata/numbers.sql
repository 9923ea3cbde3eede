SELECT toDate(created_at) AS day, lead_magnet_id, event_type, bot = '' AS human, toInt64(count()) AS events
FROM lodestone.events
WHERE account_id = {account:UUID}
  AND toDate(created_at) >= {first_day:Date}
  AND toDate(created_at) < {last_day:Date}
GROUP BY day, lead_magnet_id, event_type, human
LIMIT {limit:UInt64}
-- first_day = 2026-02-27
-- last_day = 2026-03-01
-- limit = 100001
