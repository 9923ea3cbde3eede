-- The weekly report by mail, for the installation.

-- name: AccountsWithWeeklyReport :many
-- Accounts whose last report is a week old or more at a time, from an id on, and whether anyone wants it.
SELECT accounts.id, reported_until, language, timezone, (
    weekly_report AND notify_email IS NOT NULL AND notify_confirmed_at IS NOT NULL
    OR EXISTS (SELECT FROM memberships m WHERE m.account_id = accounts.id AND coalesce(m.weekly_report, m.role = 'owner'))
    OR EXISTS (SELECT FROM webhook_endpoints w WHERE w.account_id = accounts.id AND w.is_active AND 'notice.weekly' = ANY (w.kinds))
)::boolean AS wanted FROM accounts
WHERE reported_until <= sqlc.arg(now)::timestamptz - interval '12 hours' AND accounts.id > sqlc.arg(after)
ORDER BY accounts.id
LIMIT 100;

-- name: TakeWeeklyReport :one
-- Of the account that the transaction is scoped to. It keeps others from sending the same report until the transaction ends.
SELECT weekly_report, reported_until, notify_email, notify_confirmed_at FROM accounts FOR NO KEY UPDATE;

-- name: SetReportedUntil :exec
-- Of the account that the transaction is scoped to.
UPDATE accounts SET reported_until = $1;

-- name: WeeklyReportPeople :many
-- The people of the account that the transaction is scoped to, and who of them wants the report.
SELECT u.id, u.email, u.email_key, coalesce(m.weekly_report, m.role = 'owner')::boolean AS wants
FROM memberships m JOIN users u ON u.id = m.user_id
ORDER BY u.id;

-- name: GetWeeklyReport :one
-- Of one of the people of the account that the transaction is scoped to.
SELECT u.email, coalesce(m.weekly_report, m.role = 'owner')::boolean AS wants FROM memberships m JOIN users u ON u.id = m.user_id
WHERE m.user_id = $1;

-- name: SetWeeklyReport :exec
-- Of one of the people of the account that the transaction is scoped to.
UPDATE memberships SET weekly_report = sqlc.arg(wants)::boolean WHERE user_id = $1;

-- name: LanguageOfAccount :one
-- Of the account that the transaction is scoped to.
SELECT language FROM accounts;

-- name: InsertReportKey :exec
-- Adds a key, and removes those that have expired.
WITH expired AS (
    DELETE FROM report_keys WHERE expires_at < clock_timestamp()
)
INSERT INTO report_keys (id, account_id, key_hash, expires_at) VALUES ($1, $2, $3, clock_timestamp() + make_interval(secs => sqlc.arg(lasts_seconds)::float8));

-- name: DeleteReportKey :exec
DELETE FROM report_keys WHERE id = $1;

-- name: LookUpReportKey :one
-- Of any account.
SELECT id, account_id, extract(epoch FROM expires_at - clock_timestamp())::float8 AS seconds_left
FROM report_keys WHERE key_hash = $1 AND expires_at > clock_timestamp();
