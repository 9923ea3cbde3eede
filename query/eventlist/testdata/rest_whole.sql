SELECT toDate(created_at) AS day, toInt64(count()) AS n
FROM lodestone.events
WHERE account_id = {account:UUID}
  AND lead_magnet_id = {lead_magnet:UUID}
  AND toDate(created_at) >= {first_day:Date}
  AND toDate(created_at) < {last_day:Date}
GROUP BY day
-- first_day = 2026-03-01
-- last_day = 2149-01-01
-- lead_magnet = 0197a1b2-0000-7000-8000-000000000002
