-- Alerts, of the account that the transaction is scoped to, unless a comment says otherwise.

-- name: CountAlertRules :one
SELECT count(*) FROM alert_rules;

-- name: ListAlertRules :many
SELECT sqlc.embed(r), coalesce(l.title, m.title, r.utm_campaign, '')::text AS name, coalesce(l.slug, '')::text AS slug
FROM alert_rules r
LEFT JOIN generic_links l ON l.account_id = r.account_id AND l.id = r.generic_link_id
LEFT JOIN lead_magnets m ON m.account_id = r.account_id AND m.id = coalesce(r.lead_magnet_id, l.lead_magnet_id)
ORDER BY r.created_at DESC, r.id DESC
LIMIT sqlc.arg(row_limit)::bigint OFFSET sqlc.arg(row_offset)::bigint;

-- name: HasAlertRule :one
-- Whether there is a rule that says the same.
SELECT EXISTS (SELECT FROM alert_rules WHERE kind = sqlc.arg(kind) AND metric = sqlc.arg(metric) AND lead_magnet_id IS NOT DISTINCT FROM sqlc.narg(lead_magnet_id)
    AND generic_link_id IS NOT DISTINCT FROM sqlc.narg(generic_link_id) AND utm_campaign IS NOT DISTINCT FROM sqlc.narg(utm_campaign)
    AND threshold IS NOT DISTINCT FROM sqlc.narg(threshold));

-- name: InsertAlertRule :exec
INSERT INTO alert_rules (id, account_id, kind, metric, lead_magnet_id, generic_link_id, utm_campaign, threshold)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8);

-- name: DeleteAlertRule :execrows
DELETE FROM alert_rules WHERE id = $1;

-- name: CountAlerts :one
SELECT count(*) FROM alerts;

-- name: ListAlerts :many
SELECT sqlc.embed(a), r.kind, r.metric, r.threshold, r.lead_magnet_id, r.utm_campaign,
    coalesce(l.title, m.title, r.utm_campaign, '')::text AS name, coalesce(l.slug, '')::text AS slug
FROM alerts a
JOIN alert_rules r ON r.account_id = a.account_id AND r.id = a.rule_id
LEFT JOIN generic_links l ON l.account_id = a.account_id AND l.id = a.generic_link_id
LEFT JOIN lead_magnets m ON m.account_id = a.account_id AND m.id = coalesce(r.lead_magnet_id, l.lead_magnet_id)
WHERE NOT sqlc.arg(waiting)::boolean OR a.sent_at IS NULL
ORDER BY a.created_at DESC, a.id DESC
LIMIT sqlc.arg(row_limit)::bigint OFFSET sqlc.arg(row_offset)::bigint;

-- name: AccountsWithAlerts :many
-- Unscoped: the next accounts, in the order of their ids, with rules that were not checked since a time, or with alerts that wait.
SELECT a.id, a.timezone FROM accounts a
WHERE a.id > sqlc.arg(after)::uuid AND (
    EXISTS (SELECT FROM alert_rules r WHERE r.account_id = a.id AND r.checked_at < sqlc.arg(since)::timestamptz)
    OR EXISTS (SELECT FROM alerts w WHERE w.account_id = a.id AND w.sent_at IS NULL))
ORDER BY a.id LIMIT 100;

-- name: AlertRules :many
-- With the state of the link that a rule names.
SELECT sqlc.embed(r), coalesce(l.active AND (l.expires_at IS NULL OR l.expires_at > sqlc.arg(now)::timestamptz), true)::boolean AS active
FROM alert_rules r LEFT JOIN generic_links l ON l.account_id = r.account_id AND l.id = r.generic_link_id
ORDER BY r.id;

-- name: WatchedLinks :many
-- Those of the links that visitors can use.
SELECT id FROM generic_links
WHERE id = ANY (sqlc.arg(ids)::uuid[]) AND active AND (expires_at IS NULL OR expires_at > sqlc.arg(now)::timestamptz);

-- name: OpenAlerts :many
SELECT * FROM alerts WHERE ended_at IS NULL;

-- name: TakeAlertRules :many
-- It keeps others from checking the same rules until the transaction ends.
SELECT id FROM alert_rules WHERE checked_at < sqlc.arg(since)::timestamptz ORDER BY id FOR NO KEY UPDATE;

-- name: SetAlertRulesChecked :exec
UPDATE alert_rules SET checked_at = sqlc.arg(at)::timestamptz WHERE id = ANY (sqlc.arg(ids)::uuid[]);

-- name: InsertAlert :execrows
INSERT INTO alerts (id, account_id, rule_id, generic_link_id, direction, value, usual_low, usual_high, since, created_at, pages)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
ON CONFLICT DO NOTHING;

-- name: EndAlerts :exec
UPDATE alerts SET ended_at = sqlc.arg(at)::timestamptz WHERE id = ANY (sqlc.arg(ids)::uuid[]) AND ended_at IS NULL;

-- name: SetAlertsSent :execrows
-- All that wait.
UPDATE alerts SET sent_at = sqlc.arg(at)::timestamptz WHERE sent_at IS NULL;

-- name: PruneAlerts :exec
-- Those that ended before a time.
DELETE FROM alerts WHERE ended_at < sqlc.arg(before)::timestamptz AND sent_at IS NOT NULL;

-- name: LastMinuteOfLink :one
-- Unscoped: the last minute before a time in which a generic link of an account had views; the year 1 for none.
SELECT coalesce(max(m.minute), '0001-01-01 00:00:00Z')::timestamptz AS minute
FROM generic_link_counts c JOIN landing_minutes m ON m.link_id = c.id
WHERE c.account_id = sqlc.arg(account_id) AND c.id = sqlc.arg(link_id) AND m.minute < sqlc.arg(before)::timestamptz;

-- name: TakeAlertSettings :one
-- Whom alerts go to, and when not. It keeps others from sending the same alerts until the transaction ends.
SELECT notify_email, notify_confirmed_at, alert_notices, quiet_from, quiet_until, language, timezone FROM accounts FOR NO KEY UPDATE;
