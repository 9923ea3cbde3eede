-- name: PersonIDsOf :many
-- The ids that stand for addresses in an account. Not scoped, since accounts cannot make ids.
SELECT k.email_key::text AS email_key, person_id(sqlc.arg(account_id)::uuid, k.email_key)::uuid AS person_id
FROM (SELECT unnest(sqlc.arg(email_keys)::text[]) AS email_key) AS k;

-- name: KnownPeople :many
-- What is known of people who are to become recipients of a link.
SELECT p.person_id::uuid AS person_id,
    EXISTS (SELECT FROM recipients r WHERE r.generic_link_id = sqlc.arg(generic_link_id) AND r.person_id = p.person_id) AS invited,
    EXISTS (SELECT FROM unsubscribes u WHERE u.person_id = p.person_id) AS unsubscribed,
    (p.person_id IN (SELECT e.person_id FROM erasures e))::boolean AS erased
FROM (SELECT unnest(sqlc.arg(person_ids)::uuid[]) AS person_id) AS p;

-- name: InsertRecipients :exec
-- One for each access link that was made for them. The arrays are parallel; a name may be empty.
INSERT INTO recipients (id, account_id, generic_link_id, person_id, name)
SELECT unnest(sqlc.arg(ids)::uuid[]), sqlc.arg(account_id), sqlc.arg(generic_link_id), unnest(sqlc.arg(person_ids)::uuid[]),
    nullif(unnest(sqlc.arg(names)::text[]), '');

-- name: ListRecipients :many
SELECT sqlc.embed(r), s.state::text AS state, s.opened_at, s.furthest_page, s.unsubscribed_at, a.email, a.token_sealed
FROM recipients r
JOIN recipient_states s ON s.id = r.id
JOIN access_links a ON a.account_id = r.account_id AND a.id = r.id
WHERE r.generic_link_id = sqlc.arg(generic_link_id)
    AND (sqlc.narg(state)::text IS NULL OR s.state = sqlc.narg(state))
    AND (sqlc.narg(containing)::text IS NULL OR strpos(lower(a.email), lower(sqlc.narg(containing))) > 0
        OR strpos(lower(coalesce(r.name, '')), lower(sqlc.narg(containing))) > 0)
    AND (sqlc.narg(before)::uuid IS NULL OR r.id < sqlc.narg(before))
ORDER BY r.id DESC
LIMIT sqlc.arg(row_limit)::bigint OFFSET sqlc.arg(row_offset)::bigint;

-- name: CountRecipients :one
SELECT count(*)
FROM recipients r
JOIN recipient_states s ON s.id = r.id
JOIN access_links a ON a.account_id = r.account_id AND a.id = r.id
WHERE r.generic_link_id = sqlc.arg(generic_link_id)
    AND (sqlc.narg(state)::text IS NULL OR s.state = sqlc.narg(state))
    AND (sqlc.narg(containing)::text IS NULL OR strpos(lower(a.email), lower(sqlc.narg(containing))) > 0
        OR strpos(lower(coalesce(r.name, '')), lower(sqlc.narg(containing))) > 0);

-- name: CountRecipientStates :many
SELECT state::text AS state, count(*) FROM recipient_states WHERE generic_link_id = sqlc.arg(generic_link_id) GROUP BY 1;

-- name: RecipientLetter :one
-- What mails to the recipients of a link say besides the owner's words.
SELECT l.lead_magnet_id, coalesce(l.title, m.title)::text AS title, coalesce(l.language, a.language, '')::text AS language, m.is_active,
    coalesce(CASE WHEN a.notify_confirmed_at IS NOT NULL THEN a.notify_email END, '')::text AS reply_to
FROM generic_links l
JOIN lead_magnets m ON m.account_id = l.account_id AND m.id = l.lead_magnet_id
JOIN accounts a ON a.id = l.account_id
WHERE l.id = $1;

-- name: QueueInvitations :many
-- Takes recipients who got no mail yet, the first of the list first, for the transaction that queues their mails.
UPDATE recipients r SET queued_at = clock_timestamp(), failure = NULL
FROM access_links a
WHERE a.account_id = r.account_id AND a.id = r.id AND r.id IN (
    SELECT f.id FROM recipients f JOIN access_links l ON l.account_id = f.account_id AND l.id = f.id
    WHERE f.generic_link_id = sqlc.arg(generic_link_id) AND f.queued_at IS NULL
        AND l.is_active AND (l.expires_at IS NULL OR l.expires_at > clock_timestamp())
        AND NOT EXISTS (SELECT FROM unsubscribes u WHERE u.account_id = f.account_id AND u.person_id = f.person_id)
        AND (sqlc.narg(ids)::uuid[] IS NULL OR f.id = ANY (sqlc.narg(ids)::uuid[]))
    ORDER BY f.id LIMIT sqlc.arg(row_limit)::bigint FOR UPDATE OF f SKIP LOCKED)
RETURNING r.id, r.person_id, r.name, a.email, a.token_sealed;

-- name: QueueReminders :many
-- Takes recipients who did not open the document for some days after the mail, or stopped before a page some days ago, and were not
-- reminded.
UPDATE recipients r SET reminder_queued_at = clock_timestamp(), failure = NULL
FROM access_links a
WHERE a.account_id = r.account_id AND a.id = r.id AND r.id IN (
    SELECT f.id FROM recipients f
    JOIN recipient_states s ON s.id = f.id
    JOIN access_links l ON l.account_id = f.account_id AND l.id = f.id
    WHERE f.generic_link_id = sqlc.arg(generic_link_id) AND f.reminder_queued_at IS NULL AND f.bounced_at IS NULL
        AND s.unsubscribed_at IS NULL AND l.is_active AND (l.expires_at IS NULL OR l.expires_at > clock_timestamp())
        AND (s.state = 'sent' AND f.sent_at <= clock_timestamp() - make_interval(days => sqlc.arg(after_days)::integer)
            OR s.state = 'opened' AND s.furthest_page < sqlc.narg(before_page)::integer
                AND s.last_active_at <= clock_timestamp() - make_interval(days => sqlc.arg(after_days)::integer))
        AND (sqlc.narg(ids)::uuid[] IS NULL OR f.id = ANY (sqlc.narg(ids)::uuid[]))
    ORDER BY f.id LIMIT sqlc.arg(row_limit)::bigint FOR UPDATE OF f SKIP LOCKED)
RETURNING r.id, r.person_id, r.name, a.email, a.token_sealed;

-- name: ClaimRecipientMail :execrows
-- Says that a mail to a recipient is handed over now: none, if it was before, or the recipient is gone or wants no more mail.
UPDATE recipients r SET failure = NULL, sent_at = CASE WHEN sqlc.arg(reminder)::boolean THEN r.sent_at ELSE clock_timestamp() END,
    reminded_at = CASE WHEN sqlc.arg(reminder)::boolean THEN clock_timestamp() ELSE r.reminded_at END
WHERE r.id = sqlc.arg(id) AND CASE WHEN sqlc.arg(reminder)::boolean THEN r.reminded_at ELSE r.sent_at END IS NULL
    AND NOT EXISTS (SELECT FROM unsubscribes u WHERE u.account_id = r.account_id AND u.person_id = r.person_id);

-- name: ReleaseRecipientMail :exec
-- Says that a mail was not handed over. The last try of it ends its time in the queue, so that it can be sent again.
UPDATE recipients SET failure = sqlc.arg(failure)::text,
    sent_at = CASE WHEN sqlc.arg(reminder)::boolean THEN sent_at END,
    reminded_at = CASE WHEN sqlc.arg(reminder)::boolean THEN NULL ELSE reminded_at END,
    queued_at = CASE WHEN sqlc.arg(is_last)::boolean AND NOT sqlc.arg(reminder)::boolean THEN NULL ELSE queued_at END,
    reminder_queued_at = CASE WHEN sqlc.arg(is_last)::boolean AND sqlc.arg(reminder)::boolean THEN NULL ELSE reminder_queued_at END
WHERE id = sqlc.arg(id);

-- name: BounceRecipient :exec
UPDATE recipients SET bounced_at = clock_timestamp(), failure = sqlc.arg(failure)::text WHERE id = sqlc.arg(id);

-- name: Unsubscribe :exec
INSERT INTO unsubscribes (account_id, person_id) VALUES ($1, $2) ON CONFLICT DO NOTHING;

-- name: RecipientsOfPerson :many
SELECT sqlc.embed(r), a.email FROM recipients r JOIN access_links a ON a.account_id = r.account_id AND a.id = r.id
WHERE a.email_key = sqlc.arg(email_key) ORDER BY r.id;

-- name: UnsubscribedAt :one
SELECT at FROM unsubscribes WHERE person_id = sqlc.arg(person_id);

-- name: GetReminderRule :one
SELECT * FROM reminder_rules WHERE generic_link_id = $1;

-- name: PutReminderRule :exec
INSERT INTO reminder_rules (generic_link_id, account_id, after_days, before_page, subject, body) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (generic_link_id) DO UPDATE SET after_days = excluded.after_days, before_page = excluded.before_page,
    subject = excluded.subject, body = excluded.body;

-- name: DeleteReminderRule :exec
DELETE FROM reminder_rules WHERE generic_link_id = $1;

-- name: ReminderRulesAfter :many
-- Unscoped: the next rules, in the order of their links.
SELECT * FROM reminder_rules WHERE generic_link_id > sqlc.arg(after) ORDER BY generic_link_id LIMIT 1000;
