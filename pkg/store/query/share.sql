-- Of the account that the transaction is scoped to, unless a comment says otherwise.

-- name: CountShares :one
SELECT count(*) FROM shares WHERE lead_magnet_id = $1;

-- name: InsertShare :exec
INSERT INTO shares (id, account_id, lead_magnet_id, name, token_hash, key_hash, password_hash, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8);

-- name: ListShares :many
SELECT id, lead_magnet_id, name, has_password, expires_at, view_count, last_viewed_at, created_at FROM shares
WHERE lead_magnet_id = sqlc.arg(lead_magnet_id)
ORDER BY created_at DESC, id DESC
LIMIT sqlc.arg(row_limit)::bigint OFFSET sqlc.arg(row_offset)::bigint;

-- name: GetShare :one
SELECT id, lead_magnet_id, name, has_password, expires_at, view_count, last_viewed_at, created_at FROM shares WHERE id = $1;

-- name: DeleteShare :execrows
DELETE FROM shares WHERE id = $1 AND lead_magnet_id = $2;

-- name: ShareByToken :one
-- Of any account: the link that a token belongs to, and whether its time is over.
SELECT s.id, s.account_id, s.lead_magnet_id, s.key_hash, s.password_hash, coalesce(s.expires_at <= clock_timestamp(), false)::boolean AS expired,
    m.title, a.name AS account_name, a.brand_color, a.language
FROM shares s
JOIN lead_magnets m ON m.account_id = s.account_id AND m.id = s.lead_magnet_id
JOIN accounts a ON a.id = s.account_id
WHERE s.token_hash = $1;

-- name: CountShareView :exec
-- Of any account.
UPDATE shares SET view_count = view_count + 1, last_viewed_at = clock_timestamp() WHERE id = $1;

-- name: LookUpShare :one
-- Of any account: the link whose key has a hash, unless its time is over. Seconds until then; infinite for one without an end.
SELECT id, account_id, coalesce(extract(epoch FROM expires_at - clock_timestamp()), 'infinity')::float8 AS seconds_left
FROM shares WHERE key_hash = $1 AND (expires_at IS NULL OR expires_at > clock_timestamp());
