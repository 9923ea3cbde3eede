SELECT count()
FROM lodestone.events
WHERE account_id = {account:UUID}
  AND created_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
-- from = 0
