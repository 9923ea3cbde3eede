-- name: RetentionSetting :one
SELECT * FROM retention_setting;

-- name: LockRetentionSetting :one
-- The setting cannot change until the transaction ends.
SELECT * FROM retention_setting FOR UPDATE;

-- name: SetRetention :exec
UPDATE retention_setting SET months = sqlc.arg(months), next_months = sqlc.narg(next_months), next_at = sqlc.narg(next_at), changed_at = now();

-- name: AddRetention :exec
-- Records the first setting, which takes effect after a delay.
INSERT INTO retention_setting (months, next_months, next_at)
SELECT 0, nullif(sqlc.arg(months)::integer, 0),
    CASE WHEN sqlc.arg(months)::integer > 0 THEN now() + make_interval(secs => sqlc.arg(delay_seconds)::float8) END
ON CONFLICT DO NOTHING;
