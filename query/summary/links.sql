-- The ids come as 16 bytes each, one after another: an array of a thousand takes a millisecond to decode.
SELECT
    count(*),
    min(created_at),
    max(created_at),
    string_agg(uuid_send(id), '')
FROM access_links
WHERE account_id = $1
  AND email_key = $2
  AND ($3::uuid IS NULL OR lead_magnet_id = $3)
