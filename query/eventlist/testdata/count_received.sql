SELECT toDate(created_at) AS day, toInt64(count()) AS events
FROM lodestone.events
WHERE account_id = {account:UUID}
  AND created_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
  AND stored_at > fromUnixTimestamp64Milli({received_after:Int64}, 'UTC')
GROUP BY day
UNION ALL
SELECT toDate(created_at) AS day, toInt64(count()) AS events
FROM lodestone.events
WHERE account_id = {account:UUID}
  AND toDate(created_at) >= {from_2:Date}
GROUP BY day
UNION ALL
SELECT toDate(created_at) AS day, -toInt64(count()) AS events
FROM lodestone.events
WHERE account_id = {account:UUID}
  AND created_at >= fromUnixTimestamp64Milli({from_3:Int64}, 'UTC')
  AND stored_at <= fromUnixTimestamp64Milli({received_after:Int64}, 'UTC')
GROUP BY day
-- from_2 = 2026-03-02
-- from_3 = 1772409600000
-- received_after = 1772366400000
-- to = 1772409600000
