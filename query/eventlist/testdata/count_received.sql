SELECT sum(n)
FROM
(
SELECT toInt64(count()) AS n
FROM lodestone.events
WHERE account_id = {account:UUID}
  AND created_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
  AND created_at < fromUnixTimestamp64Milli({low:Int64}, 'UTC')
  AND stored_at > fromUnixTimestamp64Milli({received_after:Int64}, 'UTC')
UNION ALL
SELECT -toInt64(count()) AS n
FROM lodestone.events
WHERE account_id = {account:UUID}
  AND created_at >= fromUnixTimestamp64Milli({low:Int64}, 'UTC')
  AND created_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
  AND stored_at <= fromUnixTimestamp64Milli({received_after:Int64}, 'UTC')
UNION ALL
SELECT toInt64(count()) AS n
FROM lodestone.events
WHERE account_id = {account:UUID}
  AND created_at >= fromUnixTimestamp64Milli({low:Int64}, 'UTC')
  AND created_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
)
-- low = 1772366400001
-- received_after = 1772366400000
-- since = 0
-- to = 5648745600000
