SELECT count()
FROM lodestone.events
WHERE account_id = {account:UUID}
  AND access_link_id = {access_link:UUID}
-- access_link = 0197a1b2-0000-7000-8000-000000000001
