SELECT
    count(*),
    min(created_at),
    max(created_at),
    coalesce(array_agg(id), '{}'),
    coalesce(array_agg(DISTINCT lead_magnet_id), '{}')
FROM access_links
WHERE account_id = $1
  AND email_key = $2
  AND ($3::uuid IS NULL OR lead_magnet_id = $3)
