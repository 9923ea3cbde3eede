-- name: InsertAccount :exec
INSERT INTO accounts (id, name, plan) VALUES ($1, $2, $3);

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
    (SELECT count(*) FROM api_keys WHERE revoked_at IS NULL) AS keys;

-- name: InsertKey :exec
INSERT INTO api_keys (id, account_id, name, prefix, hash, scopes, created_by) VALUES ($1, $2, $3, $4, $5, $6, $7);

-- name: GetKey :one
SELECT id, name, prefix, scopes, created_by, created_at, last_used_at, revoked_at FROM api_keys WHERE id = $1;

-- name: HoldKey :one
-- Reads whether a key works, which then stays so until the transaction ends.
SELECT (revoked_at IS NULL)::boolean AS works FROM api_keys WHERE id = $1 FOR SHARE;

-- name: KeysOfAccount :many
SELECT id, name, prefix, scopes, created_by, created_at, last_used_at, revoked_at FROM api_keys
WHERE account_id = $1 ORDER BY created_at, id;

-- name: ListKeys :many
SELECT id, name, prefix, scopes, created_by, created_at, last_used_at, revoked_at FROM api_keys
WHERE revoked_at IS NULL
ORDER BY created_at DESC, id DESC
LIMIT sqlc.arg(row_limit)::bigint OFFSET sqlc.arg(row_offset)::bigint;

-- name: CountKeys :one
SELECT count(*) FROM api_keys WHERE revoked_at IS NULL;

-- name: RevokeWorkingKey :execrows
UPDATE api_keys SET revoked_at = now() WHERE id = $1 AND revoked_at IS NULL;

-- name: RevokeKey :execrows
UPDATE api_keys SET revoked_at = coalesce(revoked_at, now()) WHERE id = $1;

-- name: LockPlan :one
-- Takes the account's row, so that counting against the plan and adding happen one at a time.
SELECT plan FROM accounts FOR NO KEY UPDATE;
