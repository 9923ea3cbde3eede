-- name: Lock :exec
-- Waits for an advisory lock, which the transaction then holds to its end.
SELECT pg_advisory_xact_lock(sqlc.arg(key)::bigint);

-- name: TryLock :one
-- Takes an advisory lock until the end of the transaction if it is free.
SELECT pg_try_advisory_xact_lock(sqlc.arg(key)::bigint);

-- name: TryLocks :many
-- Takes those advisory locks until the end of the transaction that are free.
SELECT k::bigint AS key FROM unnest(sqlc.arg(keys)::bigint[]) AS k WHERE pg_try_advisory_xact_lock(k);

-- name: LockShared :exec
-- Waits until no one holds an advisory lock alone, and keeps it from that to the end of the transaction.
SELECT pg_advisory_xact_lock_shared(sqlc.arg(key)::bigint);

-- name: TryLockShared :one
SELECT pg_try_advisory_xact_lock_shared(sqlc.arg(key)::bigint);

-- name: Now :one
SELECT now()::timestamptz;

-- name: AllowIdle :exec
-- Lets the transaction do nothing for any time, so that it holds its locks.
SET LOCAL idle_in_transaction_session_timeout = 0;
