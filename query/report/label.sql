SELECT toString(id), if(empty(title), '', title)
FROM lodestone.lead_magnets FINAL
WHERE account_id = {account:UUID} AND id IN {ids:Array(UUID)}
UNION ALL
SELECT toString(id), coalesce(nullIf(title, ''), slug)
FROM lodestone.generic_links FINAL
WHERE account_id = {account:UUID} AND id IN {ids:Array(UUID)}
