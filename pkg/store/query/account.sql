-- name: InsertAccount :exec
INSERT INTO accounts (id, name, plan) VALUES ($1, $2, $3);

-- name: ChangeAccount :execrows
UPDATE accounts SET name = coalesce(sqlc.narg(name), name), plan = coalesce(sqlc.narg(plan), plan) WHERE id = sqlc.arg(id);

-- name: ListAccounts :many
SELECT * FROM accounts ORDER BY created_at, id;

-- name: GetAccount :one
SELECT * FROM accounts WHERE id = $1;

-- name: OwnAccount :one
-- The account that the transaction is scoped to.
SELECT * FROM accounts;

-- name: CountUsage :one
SELECT (SELECT count(*) FROM lead_magnets) AS lead_magnets, (SELECT count(*) FROM generic_links) AS generic_links,
    (SELECT count(*) FROM access_links) AS access_links,
    (SELECT coalesce(sum(file_size), 0) FROM lead_magnet_files WHERE discarded_at IS NULL)::bigint AS stored_bytes,
    (SELECT count(*) FROM api_keys WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > clock_timestamp())) AS keys;

-- name: InsertKey :exec
INSERT INTO api_keys (id, account_id, name, prefix, hash, scopes, created_by, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8);

-- name: GetKey :one
SELECT id, name, prefix, scopes, created_by, created_at, last_used_at, expires_at, revoked_at FROM api_keys WHERE id = $1;

-- name: HoldKey :one
-- Reads whether a key works and when it expires. That it is not revoked stays so until the transaction ends.
SELECT expires_at, (revoked_at IS NULL AND (expires_at IS NULL OR expires_at > clock_timestamp()))::boolean AS works
FROM api_keys WHERE id = $1 FOR SHARE;

-- name: KeysOfAccount :many
SELECT id, name, prefix, scopes, created_by, created_at, last_used_at, expires_at, revoked_at FROM api_keys
WHERE account_id = $1 ORDER BY created_at, id;

-- name: ListKeys :many
SELECT id, name, prefix, scopes, created_by, created_at, last_used_at, expires_at, revoked_at FROM api_keys
WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > clock_timestamp())
ORDER BY created_at DESC, id DESC
LIMIT sqlc.arg(row_limit)::bigint OFFSET sqlc.arg(row_offset)::bigint;

-- name: CountKeys :one
SELECT count(*) FROM api_keys WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > clock_timestamp());

-- name: AccountOfKey :one
SELECT account_id FROM api_keys WHERE id = $1;

-- name: RevokeKey :exec
-- Revokes a key, the keys that were created with it, the keys created with those, and so on. The transaction holds the account's
-- row (LockPlan), so that no key is created meanwhile.
WITH RECURSIVE made AS (
    SELECT api_keys.id FROM api_keys WHERE api_keys.id = sqlc.arg(id)
    UNION
    SELECT child.id FROM api_keys child JOIN made ON child.created_by = made.id
)
UPDATE api_keys SET revoked_at = clock_timestamp() WHERE api_keys.id IN (SELECT made.id FROM made) AND api_keys.revoked_at IS NULL;

-- name: LockPlan :one
-- Takes the account's row, so that counting against the plan and adding happen one at a time.
SELECT plan FROM accounts FOR NO KEY UPDATE;

-- name: EventUsage :one
-- Of the account that the transaction is scoped to. Nothing is counted yet in the first seconds of an account or month.
SELECT coalesce(max(events) FILTER (WHERE month = date_trunc('month', now() AT TIME ZONE 'UTC')::date), 0)::bigint AS events, coalesce(max(event_limit), 0)::bigint AS event_limit -- 0: any number
FROM event_usage;
