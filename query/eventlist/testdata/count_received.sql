SELECT sum(n)
FROM
(
SELECT toInt64(count()) AS n
FROM lodestone.events
WHERE account_id = {account:UUID}
  AND created_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
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
-- from = 0
-- low = 1772366400001
-- received_after = 1772366400000
-- to = 5648745600000
