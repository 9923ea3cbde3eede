-- The ids come as 16 bytes each, one after another: an array of a thousand takes a millisecond to decode.
-- A link that a form gave in addition to the one in the mail does not raise the number. Once a recipient has
-- verified the address, links that forms gave to whoever typed it do not matter at all.
SELECT
    count(*) FILTER (WHERE NOT additional),
    min(created_at),
    max(created_at),
    string_agg(uuid_send(id), '')
FROM access_links
WHERE account_id = $1
  AND email_key = $2
  AND (source <> 'form' OR NOT EXISTS (
      SELECT FROM access_links v WHERE v.account_id = $1 AND v.email_key = $2 AND v.verified))
  AND ($3::uuid IS NULL OR lead_magnet_id = $3)
