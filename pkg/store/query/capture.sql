-- name: LandingPage :one
-- What the page at a slug shows, whosever it is: the only look-up of a link without an account.
SELECT sqlc.embed(g), m.title AS magnet_title, m.description AS magnet_description, m.is_active AS magnet_active, m.file_version,
    m.author, m.author_about, f.content_type, f.file_size, f.page_count, f.outline, a.name AS account_name, a.brand_color, a.brand_font,
    coalesce(g.language, a.language) AS page_language
FROM generic_links g
JOIN lead_magnets m ON m.account_id = g.account_id AND m.id = g.lead_magnet_id
JOIN accounts a ON a.id = g.account_id
LEFT JOIN lead_magnet_files f ON f.account_id = m.account_id AND f.lead_magnet_id = m.id AND f.version = m.file_version
WHERE g.slug = $1;

-- name: CountReaders :one
-- How many people read a lead magnet, and how many of them to the last page, whosever it is: each address counts once. And for how long those
-- who came to the last page had pages before them: half of them for less, half for more.
WITH people AS (
    SELECT bool_or(c.views > 0) AS viewed, coalesce(bool_or(f.page_count = ANY (s.pages)), false) AS finished,
        coalesce(sum(s.duration_ms), 0)::bigint AS reading_ms
    FROM access_links a
    LEFT JOIN access_link_counts c ON c.id = a.id
    LEFT JOIN sessions s ON s.account_id = a.account_id AND s.access_link_id = a.id
    LEFT JOIN lead_magnet_files f ON f.account_id = a.account_id AND f.lead_magnet_id = a.lead_magnet_id AND f.version = s.magnet_version
    WHERE a.account_id = $1 AND a.lead_magnet_id = $2
    GROUP BY a.email_key
)
SELECT count(*) FILTER (WHERE viewed) AS readers, count(*) FILTER (WHERE viewed AND finished) AS finished,
    coalesce(percentile_cont(0.5) WITHIN GROUP (ORDER BY reading_ms) FILTER (WHERE viewed AND finished), 0)::bigint AS reading_ms
FROM people;

-- name: OfferTitle :one
-- What a visitor of a link asked for, as the page names it.
SELECT coalesce(l.title, m.title)::text AS title
FROM generic_links l JOIN lead_magnets m ON m.account_id = l.account_id AND m.id = l.lead_magnet_id
WHERE l.id = $1;

-- name: IsRetiredSlug :one
SELECT EXISTS (SELECT FROM retired_slugs WHERE slug = $1);

-- name: VerificationByPage :one
-- The verification that a waiting page belongs to, whosever it is.
SELECT sqlc.embed(v), s.generic_link_id, s.email AS mailbox, g.slug
FROM verifications v
JOIN submissions s ON s.account_id = v.account_id AND s.id = v.submission_id
JOIN generic_links g ON g.account_id = s.account_id AND g.id = s.generic_link_id
WHERE v.page_hash = $1;

-- name: VerificationByLink :one
-- The verification that a mail's link belongs to, whosever it is.
SELECT sqlc.embed(v), s.generic_link_id, s.email AS mailbox, g.slug
FROM verifications v
JOIN submissions s ON s.account_id = v.account_id AND s.id = v.submission_id
JOIN generic_links g ON g.account_id = s.account_id AND g.id = s.generic_link_id
WHERE v.link_hash = $1;

-- name: InsertSubmission :execrows
-- Adds nothing if the address has submitted to the link before. A submission of the same address that
-- is being added by another transaction is waited for.
INSERT INTO submissions (id, account_id, generic_link_id, email, email_key, name, verification_required, utm, referrer,
    consent_text, privacy_url, consented_at, submitted_at, answers, headline_b)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
ON CONFLICT ON CONSTRAINT submissions_email DO NOTHING;

-- name: TakeSubmission :one
-- Takes the submission of an address, so that what follows from it happens once.
SELECT * FROM submissions WHERE generic_link_id = $1 AND email_key = $2 FOR NO KEY UPDATE;

-- name: TakeSubmissionByID :one
SELECT * FROM submissions WHERE id = $1 FOR NO KEY UPDATE;

-- name: RepeatSubmission :exec
-- What a repeated submission adds: what was not there. It overwrites nothing, since anybody can type
-- anybody's address.
UPDATE submissions SET
    name = coalesce(name, sqlc.narg(name)),
    answers = sqlc.arg(answers)::jsonb || answers,
    verification_required = CASE WHEN verified THEN verification_required ELSE sqlc.arg(verification_required)::boolean END,
    consent_text = CASE WHEN consented_at IS NULL THEN sqlc.narg(consent_text) ELSE consent_text END,
    privacy_url = CASE WHEN consented_at IS NULL THEN sqlc.narg(privacy_url) ELSE privacy_url END,
    consented_at = coalesce(consented_at, sqlc.narg(consented_at))
WHERE id = sqlc.arg(id);

-- name: CountSubmission :execrows
-- Counts a submission, unless the link has as many as it may.
UPDATE generic_links SET submission_count = submission_count + 1 WHERE id = $1 AND (max_people IS NULL OR submission_count < max_people);

-- name: VerifySubmission :execrows
UPDATE submissions SET verified = true, verified_at = $2 WHERE id = $1 AND NOT verified;

-- name: MailboxLink :one
-- The link of a submission that only its mailbox receives.
SELECT * FROM access_links WHERE submission_id = sqlc.arg(submission_id)::uuid AND source = 'mail';

-- name: InsertMailboxLink :one
INSERT INTO access_links (id, account_id, lead_magnet_id, generic_link_id, submission_id, email, email_key, token_hash, token_sealed, token_key,
    source, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'mail', $11)
RETURNING *;

-- name: RenewMailboxLink :exec
-- Whoever asks for the document again gets it for another time.
UPDATE access_links SET expires_at = sqlc.arg(expires_at)::timestamptz, revision = revision + 1, updated_at = clock_timestamp()
WHERE id = sqlc.arg(id) AND expires_at <= sqlc.arg(now)::timestamptz;

-- name: InsertFormLink :exec
-- A link for whoever submitted the form, with the restrictions of the mailbox's.
INSERT INTO access_links (id, account_id, lead_magnet_id, generic_link_id, submission_id, email, email_key, token_hash, token_sealed, token_key,
    source, additional, utm, referrer, max_views, expires_at, is_active)
SELECT sqlc.arg(id), m.account_id, m.lead_magnet_id, m.generic_link_id, sqlc.narg(submission_id)::uuid, m.email, m.email_key,
    sqlc.arg(token_hash), sqlc.arg(token_sealed), sqlc.arg(token_key), 'form', true, m.utm, m.referrer, m.max_views, m.expires_at, m.is_active
FROM access_links m WHERE m.id = sqlc.arg(mailbox_link_id);

-- name: VerifyMailboxLink :exec
UPDATE access_links SET verified = true WHERE id = $1 AND NOT verified;

-- name: DetachFormLinks :exec
-- Whoever holds them need not be who verified the address.
UPDATE access_links SET submission_id = NULL WHERE submission_id = sqlc.arg(submission_id)::uuid AND source = 'form';

-- name: InsertVerification :exec
INSERT INTO verifications (id, account_id, submission_id, email, page_hash, link_hash, code_hash, sent_at, expires_at, language)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10);

-- name: TryCode :one
-- Counts a try, unless there were enough, or the verification is over or was used before a time.
UPDATE verifications SET attempts = attempts + 1
WHERE id = sqlc.arg(id) AND attempts < sqlc.arg(max_attempts)::integer
    AND CASE WHEN used_at IS NULL THEN expires_at > sqlc.arg(now)::timestamptz ELSE used_at > sqlc.arg(used_since)::timestamptz END
RETURNING code_hash, attempts;

-- name: UseVerification :execrows
-- Uses a verification, unless it is over or was used before a time.
UPDATE verifications SET used_at = coalesce(used_at, sqlc.arg(now)::timestamptz)
WHERE id = sqlc.arg(id)
    AND CASE WHEN used_at IS NULL THEN expires_at > sqlc.arg(now)::timestamptz ELSE used_at > sqlc.arg(used_since)::timestamptz END;

-- name: ResendVerification :execrows
-- Counts a mail, unless there were enough, or the last one was just now. Its secrets are those of
-- before, unless the key that derives them has changed.
UPDATE verifications SET mails = mails + 1, sent_at = sqlc.arg(now)::timestamptz, link_hash = sqlc.arg(link_hash), code_hash = sqlc.arg(code_hash)
WHERE id = sqlc.arg(id) AND used_at IS NULL AND expires_at > sqlc.arg(now)::timestamptz
    AND mails < sqlc.arg(max_mails)::integer AND sent_at <= sqlc.arg(sent_before)::timestamptz;

-- name: ForgetVerifications :execrows
-- A while after their end: until then their pages can say that they are over.
DELETE FROM verifications WHERE expires_at < sqlc.arg(before)::timestamptz;
