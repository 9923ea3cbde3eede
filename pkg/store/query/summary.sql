-- name: LinksOfAddress :one
-- The ids come as 16 bytes each, one after another: an array of a thousand takes a millisecond to decode.
-- A link that a form gave in addition to the one in the mail does not raise the number, nor is its time one of a link. Once a recipient has
-- verified the address, links that forms gave to whoever typed it do not matter at all.
SELECT
    count(*) FILTER (WHERE NOT a.additional) AS total,
    coalesce(min(a.created_at) FILTER (WHERE NOT a.additional), 'epoch')::timestamptz AS first_created,
    coalesce(max(a.created_at) FILTER (WHERE NOT a.additional), 'epoch')::timestamptz AS last_created,
    coalesce(string_agg(uuid_send(a.id), ''), '')::bytea AS ids
FROM access_links a
WHERE a.account_id = $1
  AND a.email_key = $2
  AND (a.source <> 'form' OR NOT EXISTS (
      SELECT FROM access_links v WHERE v.account_id = $1 AND v.email_key = $2 AND v.verified))
  AND (sqlc.narg(lead_magnet_id)::uuid IS NULL OR a.lead_magnet_id = sqlc.narg(lead_magnet_id));
