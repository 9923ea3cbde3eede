-- name: InsertAccount :exec
INSERT INTO accounts (id, name, plan) VALUES ($1, $2, $3);

-- name: GetAccount :one
SELECT id, name, plan, created_at FROM accounts WHERE id = $1;

-- name: InsertKey :exec
INSERT INTO api_keys (id, account_id, name, prefix, hash, scopes) VALUES ($1, $2, $3, $4, $5, $6);

-- name: RevokeKey :execrows
UPDATE api_keys SET revoked_at = coalesce(revoked_at, now()) WHERE id = $1;

-- name: LockPlan :one
-- Takes the account's row, so that counting against the plan and adding happen one at a time.
SELECT plan FROM accounts FOR NO KEY UPDATE;
