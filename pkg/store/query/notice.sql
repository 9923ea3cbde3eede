-- name: LeadNotice :one
-- The notice to the owner about one submission; none, if it is not sent at once.
SELECT a.id AS account_id, a.notify_email::text AS notify_email, s.email, s.name, s.verified, s.submitted_at,
    coalesce(l.title, m.title)::text AS title, l.slug, s.utm, s.referrer, a.timezone,
    coalesce((SELECT x.id FROM access_links x WHERE x.account_id = s.account_id AND x.submission_id = s.id AND x.source = 'mail'), s.id)::uuid AS access_link_id
FROM submissions s
JOIN accounts a ON a.id = s.account_id AND a.notify = 'each' AND a.notify_email IS NOT NULL AND a.notify_confirmed_at IS NOT NULL
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
WHERE id = sqlc.arg(id) AND notify <> 'none' AND notify_email IS NOT NULL AND notify_confirmed_at IS NOT NULL
RETURNING notify_email::text AS notify_email, notices_sent;

-- name: TakeNotices :one
-- Whether the owner of the account that the transaction is scoped to gets notices of leads. It keeps others from sending the same
-- daily mail until the transaction ends.
SELECT notify, notify_email, notify_confirmed_at, notify_asked_at, digest_until FROM accounts FOR NO KEY UPDATE;

-- name: UpdateAccount :one
-- Daily mails begin with the leads that come after they were switched on. Another address is not confirmed, unless
-- it is expected to be.
UPDATE accounts SET
    notify = coalesce(sqlc.narg(notify), notify),
    notify_email = CASE WHEN sqlc.arg(set_notify_email)::boolean THEN sqlc.narg(notify_email) ELSE notify_email END,
    notify_confirmed_at = CASE WHEN sqlc.arg(set_notify_email)::boolean AND sqlc.arg(notify_confirmed)::boolean THEN now()
        WHEN sqlc.arg(set_notify_email)::boolean AND notify_email IS DISTINCT FROM sqlc.narg(notify_email) THEN NULL
        ELSE notify_confirmed_at END,
    notify_asked_at = CASE WHEN sqlc.arg(set_notify_email)::boolean AND notify_email IS DISTINCT FROM sqlc.narg(notify_email) THEN NULL
        ELSE notify_asked_at END,
    brand_color = CASE WHEN sqlc.arg(set_brand_color)::boolean THEN sqlc.narg(brand_color) ELSE brand_color END,
    brand_font = coalesce(sqlc.narg(brand_font), brand_font),
    name = coalesce(sqlc.narg(name), name),
    language = CASE WHEN sqlc.arg(set_language)::boolean THEN sqlc.narg(language) ELSE language END,
    timezone = coalesce(sqlc.narg(timezone), timezone),
    digest_until = CASE WHEN sqlc.narg(notify) = 'daily' AND notify <> 'daily' THEN now() ELSE digest_until END
RETURNING *;

-- name: ConfirmNotices :execrows
-- Daily mails begin with the leads that come after it.
UPDATE accounts SET notify_confirmed_at = now(), digest_until = greatest(digest_until, now())
WHERE notify_email = sqlc.arg(notify_email)::text AND notify_confirmed_at IS NULL;

-- name: NoticesAsked :exec
UPDATE accounts SET notify_asked_at = now();

-- name: AccountsToAsk :many
-- Unscoped: of every account, whose address for notices is neither confirmed nor asked for it.
SELECT id FROM accounts
WHERE notify_email IS NOT NULL AND notify_confirmed_at IS NULL AND notify_asked_at IS NULL
ORDER BY id LIMIT 1000;

-- name: SetDigestUntil :exec
UPDATE accounts SET digest_until = $1;

-- name: AccountsWithDigestDue :many
-- Unscoped: of every account, whose daily mail about the time before is to be sent.
SELECT id FROM accounts
WHERE notify = 'daily' AND notify_email IS NOT NULL AND notify_confirmed_at IS NOT NULL AND digest_until < sqlc.arg(before)::timestamptz
ORDER BY digest_until LIMIT 1000;

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
