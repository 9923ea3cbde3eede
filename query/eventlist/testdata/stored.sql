SELECT toDate(created_at) AS day, min(stored_at), max(stored_at)
FROM lodestone.events
WHERE account_id = {account:UUID}
  AND toDate(created_at) >= {first_day:Date}
  AND toDate(created_at) < {last_day:Date}
GROUP BY day
-- first_day = 2026-02-27
-- last_day = 2026-03-01
