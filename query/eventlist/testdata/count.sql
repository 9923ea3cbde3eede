SELECT toDate(created_at) AS day, toInt64(count()) AS events
FROM lodestone.events
WHERE account_id = {account:UUID}
GROUP BY day
