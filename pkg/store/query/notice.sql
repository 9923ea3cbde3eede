-- name: LeadNotice :one
-- The notice to the owner about one submission; none, if it is not sent at once.
SELECT a.id AS account_id, coalesce(CASE WHEN a.notify_confirmed_at IS NOT NULL THEN a.notify_email END, '')::text AS notify_email, a.language, s.email, s.name, s.verified, s.submitted_at,
    coalesce(l.title, m.title)::text AS title, l.slug, s.utm, s.referrer, a.timezone, l.fields, s.answers,
    coalesce((SELECT x.id FROM access_links x WHERE x.account_id = s.account_id AND x.submission_id = s.id AND x.source = 'mail'), s.id)::uuid AS access_link_id
FROM submissions s
JOIN accounts a ON a.id = s.account_id AND a.notify = 'each'
JOIN generic_links l ON l.account_id = s.account_id AND l.id = s.generic_link_id
JOIN lead_magnets m ON m.account_id = l.account_id AND m.id = l.lead_magnet_id
WHERE s.id = $1;

-- name: CountNotice :one
-- Counts a notice in the account's present hour, which begins with the first.
UPDATE accounts SET
    notices_sent = CASE WHEN notices_since > sqlc.arg(now)::timestamptz - interval '1 hour' THEN notices_sent + 1 ELSE 1 END,
    notices_since = CASE WHEN notices_since > sqlc.arg(now)::timestamptz - interval '1 hour' THEN notices_since ELSE sqlc.arg(now)::timestamptz END
RETURNING notices_sent;

-- name: CountOwnerNotice :one
-- Counts a notice to the owner of an account as CountNotice does, in any scope; none, if the owner gets no notices.
UPDATE accounts SET
    notices_sent = CASE WHEN notices_since > sqlc.arg(now)::timestamptz - interval '1 hour' THEN notices_sent + 1 ELSE 1 END,
    notices_since = CASE WHEN notices_since > sqlc.arg(now)::timestamptz - interval '1 hour' THEN notices_since ELSE sqlc.arg(now)::timestamptz END
WHERE id = sqlc.arg(id) AND notify <> 'none'
RETURNING coalesce(CASE WHEN notify_confirmed_at IS NOT NULL THEN notify_email END, '')::text AS notify_email, notices_sent, language, timezone;

-- name: TakeNotices :one
-- Whether the owner of the account that the transaction is scoped to gets notices of leads. It keeps others from sending the same
-- daily mail until the transaction ends.
SELECT notify, notify_email, notify_confirmed_at, digest_until, reading_notices, weekly_report, alert_notices, language, timezone FROM accounts FOR NO KEY UPDATE;

-- name: UpdateAccount :one
-- Daily mails begin with the leads that come after they were switched on. Another address is not confirmed, unless
-- it is expected to be.
UPDATE accounts SET
    notify = coalesce(sqlc.narg(notify), notify),
    reading_notices = coalesce(sqlc.narg(reading_notices), reading_notices),
    weekly_report = coalesce(sqlc.narg(weekly_report), weekly_report),
    alert_notices = coalesce(sqlc.narg(alert_notices), alert_notices),
    quiet_from = CASE WHEN sqlc.arg(set_quiet)::boolean THEN sqlc.narg(quiet_from) ELSE quiet_from END,
    quiet_until = CASE WHEN sqlc.arg(set_quiet)::boolean THEN sqlc.narg(quiet_until) ELSE quiet_until END,
    notify_email = CASE WHEN sqlc.arg(set_notify_email)::boolean THEN sqlc.narg(notify_email) ELSE notify_email END,
    notify_confirmed_at = CASE WHEN sqlc.arg(set_notify_email)::boolean AND sqlc.arg(notify_confirmed)::boolean THEN now()
        WHEN sqlc.arg(set_notify_email)::boolean AND notify_email IS DISTINCT FROM sqlc.narg(notify_email) THEN NULL
        ELSE notify_confirmed_at END,
    brand_color = CASE WHEN sqlc.arg(set_brand_color)::boolean THEN sqlc.narg(brand_color) ELSE brand_color END,
    brand_font = coalesce(sqlc.narg(brand_font), brand_font),
    name = coalesce(sqlc.narg(name), name),
    language = CASE WHEN sqlc.arg(set_language)::boolean THEN sqlc.narg(language) ELSE language END,
    timezone = coalesce(sqlc.narg(timezone), timezone),
    open_statuses = coalesce(sqlc.narg(open_statuses)::text[], open_statuses),
    closed_statuses = coalesce(sqlc.narg(closed_statuses)::text[], closed_statuses),
    left_out_suspects = coalesce(sqlc.narg(left_out_suspects)::text[], left_out_suspects),
    reported_until = CASE WHEN sqlc.narg(weekly_report)::boolean AND NOT weekly_report THEN now() ELSE reported_until END,
    digest_until = CASE WHEN sqlc.narg(notify) = 'daily' AND notify <> 'daily' THEN now() ELSE digest_until END
RETURNING *;

-- name: ConfirmNotices :execrows
-- Daily mails begin with the leads that come after it.
UPDATE accounts SET notify_confirmed_at = now(), digest_until = greatest(digest_until, now())
WHERE notify_email = sqlc.arg(notify_email)::text AND notify_confirmed_at IS NULL;

-- name: SetDigestUntil :exec
UPDATE accounts SET digest_until = $1;

-- name: AccountsWithDigest :many
-- Unscoped: the next accounts, in the order of their ids, with a daily mail whose last one is older than a time.
SELECT id, timezone, digest_until FROM accounts
WHERE notify = 'daily' AND digest_until < sqlc.arg(before)::timestamptz AND id > sqlc.arg(after)::uuid
ORDER BY id LIMIT 1000;

-- name: CountLeads :one
-- The account is named although the transaction is scoped to it, for the index.
SELECT count(*) FROM submissions
WHERE account_id = sqlc.arg(account_id)
    AND (CASE WHEN verification_required THEN verified_at ELSE submitted_at END) >= sqlc.arg(since)::timestamptz
    AND (CASE WHEN verification_required THEN verified_at ELSE submitted_at END) < sqlc.arg(before)::timestamptz;

-- name: Leads :many
SELECT s.email, s.name, s.verified, (CASE WHEN s.verification_required THEN s.verified_at ELSE s.submitted_at END)::timestamptz AS since,
    coalesce(l.title, m.title)::text AS title
FROM submissions s
JOIN generic_links l ON l.account_id = s.account_id AND l.id = s.generic_link_id
JOIN lead_magnets m ON m.account_id = l.account_id AND m.id = l.lead_magnet_id
WHERE s.account_id = sqlc.arg(account_id)
    AND (CASE WHEN s.verification_required THEN s.verified_at ELSE s.submitted_at END) >= sqlc.arg(since)::timestamptz
    AND (CASE WHEN s.verification_required THEN s.verified_at ELSE s.submitted_at END) < sqlc.arg(before)::timestamptz
ORDER BY since, s.id
LIMIT sqlc.arg(row_limit)::bigint;

-- name: FollowReadingNotices :exec
-- Has every landing page follow its account again, so that the account's setting is the only one.
UPDATE generic_links SET reading_notices = NULL, revision = revision + 1, updated_at = clock_timestamp() WHERE reading_notices IS NOT NULL;

-- name: ReadBefore :many
-- Unscoped: what was read and downloaded through access links in their sessions that are over, without those named
-- and those that the account leaves out.
SELECT s.access_link_id, max(s.last_active_at)::timestamptz AS last_active_at,
    coalesce(bool_or(f.page_count = ANY (s.pages)), false)::boolean AS finished,
    bool_or(s.downloads > 0 OR s.pages <> '{}' AND EXISTS (SELECT FROM downloads d
        WHERE d.account_id = s.account_id AND d.session_id = s.id AND d.completed_at IS NOT NULL))::boolean AS downloaded
FROM sessions s
JOIN access_links a ON a.account_id = s.account_id AND a.id = s.access_link_id
LEFT JOIN lead_magnet_files f ON f.account_id = a.account_id AND f.lead_magnet_id = a.lead_magnet_id AND f.version = s.magnet_version
WHERE (s.account_id, s.access_link_id) IN (SELECT unnest(sqlc.arg(accounts)::uuid[]), unnest(sqlc.arg(links)::uuid[]))
    AND s.ended_at IS NOT NULL AND s.id <> ALL (sqlc.arg(without)::uuid[])
    AND (s.pages <> '{}' OR s.downloads > 0)
    AND NOT EXISTS (SELECT FROM suspects j JOIN accounts o ON o.id = j.account_id WHERE j.id = s.id AND j.rule = ANY (o.left_out_suspects))
GROUP BY s.access_link_id;

-- name: EndedReadings :many
-- Unscoped: sessions in which a person read or downloaded, if their account or landing page wants notices of them. Those that the account
-- leaves out have none.
SELECT s.id, s.account_id, s.access_link_id, s.started_at, s.last_active_at,
    coalesce(f.page_count = ANY (s.pages), false)::boolean AS finished,
    (s.downloads > 0 OR EXISTS (SELECT FROM downloads d
        WHERE d.account_id = s.account_id AND d.session_id = s.id AND d.completed_at IS NOT NULL))::boolean AS downloaded,
    coalesce(l.reading_notices, o.reading_notices)::text AS send
FROM sessions s
JOIN accounts o ON o.id = s.account_id
JOIN access_links a ON a.account_id = s.account_id AND a.id = s.access_link_id
LEFT JOIN generic_links l ON l.account_id = a.account_id AND l.id = a.generic_link_id
LEFT JOIN lead_magnet_files f ON f.account_id = a.account_id AND f.lead_magnet_id = a.lead_magnet_id AND f.version = s.magnet_version
WHERE s.id = ANY (sqlc.arg(ids)::uuid[]) AND (s.pages <> '{}' OR s.downloads > 0)
    AND NOT EXISTS (SELECT FROM suspects j WHERE j.id = s.id AND j.rule = ANY (o.left_out_suspects))
    AND coalesce(l.reading_notices, o.reading_notices) <> 'none'
ORDER BY s.last_active_at, s.id;

-- name: RecordReading :exec
-- Unscoped. A session has one notice.
INSERT INTO reading_notices (session_id, account_id, access_link_id, news, send, recorded_at)
VALUES (sqlc.arg(session_id), sqlc.arg(account_id), sqlc.arg(access_link_id), sqlc.arg(news)::text[], sqlc.arg(send), sqlc.arg(recorded_at))
ON CONFLICT (session_id) DO NOTHING;

-- name: WaitingReadings :many
-- Readings whose notice waits, and what became of the setting meanwhile. The account is named although the transaction is scoped to it, for the index.
SELECT n.session_id, n.access_link_id, n.news, n.send, a.email, m.title, s.started_at, cardinality(s.pages)::integer AS pages, s.duration_ms,
    coalesce(f.page_count, 0)::integer AS page_count, coalesce(l.reading_notices, o.reading_notices)::text AS wanted
FROM reading_notices n
JOIN accounts o ON o.id = n.account_id
JOIN sessions s ON s.account_id = n.account_id AND s.id = n.session_id
JOIN access_links a ON a.account_id = n.account_id AND a.id = n.access_link_id
JOIN lead_magnets m ON m.account_id = a.account_id AND m.id = a.lead_magnet_id
LEFT JOIN generic_links l ON l.account_id = a.account_id AND l.id = a.generic_link_id
LEFT JOIN lead_magnet_files f ON f.account_id = a.account_id AND f.lead_magnet_id = a.lead_magnet_id AND f.version = s.magnet_version
WHERE n.account_id = sqlc.arg(account_id) AND n.settled_at IS NULL AND n.send = sqlc.arg(send) AND n.recorded_at < sqlc.arg(before)::timestamptz
ORDER BY s.started_at, n.session_id;

-- name: SettleReadings :exec
UPDATE reading_notices SET settled_at = now() WHERE session_id = ANY (sqlc.arg(ids)::uuid[]);

-- name: PostponeReadings :exec
UPDATE reading_notices SET send = 'daily' WHERE session_id = ANY (sqlc.arg(ids)::uuid[]);

-- name: AccountsWithReadings :many
-- Unscoped: the next accounts, in the order of their ids, with readings that wait for a daily mail.
SELECT o.id, o.timezone FROM accounts o
WHERE o.id > sqlc.arg(after)::uuid
    AND EXISTS (SELECT FROM reading_notices n WHERE n.account_id = o.id AND n.settled_at IS NULL AND n.send = 'daily')
ORDER BY o.id LIMIT 1000;
