SELECT toDate(created_at) AS day, toInt64(count()) AS events
FROM lodestone.events
WHERE account_id = {account:UUID}
  AND stored_at > fromUnixTimestamp64Milli({received_after:Int64}, 'UTC')
GROUP BY day
-- received_after = 1772366400000
