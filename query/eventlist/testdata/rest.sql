SELECT toDate(created_at) AS day, toInt64(count()) AS events
FROM lodestone.events
WHERE account_id = {account:UUID}
  AND (created_at >= fromUnixTimestamp64Milli({open:Int64}, 'UTC'))
GROUP BY day
-- open = 1772323200000
