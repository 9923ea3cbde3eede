SELECT toDate(created_at) AS day, toInt64(count()) AS events
FROM lodestone.events
WHERE account_id = {account:UUID}
  AND created_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
  AND created_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
GROUP BY day
UNION ALL
SELECT toDate(created_at) AS day, toInt64(count()) AS events
FROM lodestone.events
WHERE account_id = {account:UUID}
  AND created_at >= fromUnixTimestamp64Milli({from_2:Int64}, 'UTC')
  AND created_at < fromUnixTimestamp64Milli({to_2:Int64}, 'UTC')
GROUP BY day
UNION ALL
SELECT toDate(created_at) AS day, toInt64(count()) AS events
FROM lodestone.events
WHERE account_id = {account:UUID}
  AND toDate(created_at) >= {from_3:Date}
  AND toDate(created_at) < {to_3:Date}
GROUP BY day
-- from = 1772154000000
-- from_2 = 1772409600000
-- from_3 = 2026-02-28
-- to = 1772236800000
-- to_2 = 1772409660000
-- to_3 = 2026-03-02
