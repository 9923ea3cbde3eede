SELECT person_id
FROM lodestone.access_links FINAL
WHERE account_id = {account:UUID} AND id = {access_link:UUID}
