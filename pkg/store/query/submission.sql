-- name: ListSubmissions :many
SELECT * FROM submissions
WHERE generic_link_id = sqlc.arg(generic_link_id)
    AND (sqlc.narg(submission_id)::uuid IS NULL OR id = sqlc.narg(submission_id))
    AND (sqlc.narg(since)::timestamptz IS NULL OR submitted_at > sqlc.narg(since))
    AND (sqlc.narg(until)::timestamptz IS NULL OR submitted_at < sqlc.narg(until))
    AND (sqlc.narg(containing)::text IS NULL OR strpos(lower(email), lower(sqlc.narg(containing))) > 0
        OR strpos(lower(coalesce(name, '')), lower(sqlc.narg(containing))) > 0)
    AND (sqlc.narg(answers)::jsonb IS NULL OR lower(answers::text)::jsonb @> lower(sqlc.narg(answers)::jsonb::text)::jsonb)
    AND (sqlc.narg(source)::text IS NULL OR utm ->> 'utm_source' = sqlc.narg(source))
    AND (sqlc.narg(campaign)::text IS NULL OR utm ->> 'utm_campaign' = sqlc.narg(campaign))
    AND NOT EXISTS (SELECT FROM unnest(sqlc.narg(without)::text[]) AS none (parameter) WHERE utm ->> none.parameter <> '')
    AND (sqlc.narg(state)::text IS NULL OR sqlc.narg(state) = CASE
        WHEN EXISTS (SELECT FROM counted_submissions c WHERE c.account_id = submissions.account_id AND c.id = submissions.id AND c.view_count > 0) THEN 'viewed'
        WHEN verification_required AND NOT verified THEN 'awaiting_verification'
        ELSE 'ready' END)
    AND (sqlc.narg(before_at)::timestamptz IS NULL
        OR (submitted_at, id) < (sqlc.narg(before_at)::timestamptz, sqlc.narg(before_id)::uuid))
ORDER BY submitted_at DESC, id DESC
LIMIT sqlc.arg(row_limit)::bigint OFFSET sqlc.arg(row_offset)::bigint;

-- name: ListSubmissionsOldest :many
-- Lists as ListSubmissions does, in the other direction of the same index.
SELECT * FROM submissions
WHERE generic_link_id = sqlc.arg(generic_link_id)
    AND (sqlc.narg(submission_id)::uuid IS NULL OR id = sqlc.narg(submission_id))
    AND (sqlc.narg(since)::timestamptz IS NULL OR submitted_at > sqlc.narg(since))
    AND (sqlc.narg(until)::timestamptz IS NULL OR submitted_at < sqlc.narg(until))
    AND (sqlc.narg(containing)::text IS NULL OR strpos(lower(email), lower(sqlc.narg(containing))) > 0
        OR strpos(lower(coalesce(name, '')), lower(sqlc.narg(containing))) > 0)
    AND (sqlc.narg(answers)::jsonb IS NULL OR lower(answers::text)::jsonb @> lower(sqlc.narg(answers)::jsonb::text)::jsonb)
    AND (sqlc.narg(source)::text IS NULL OR utm ->> 'utm_source' = sqlc.narg(source))
    AND (sqlc.narg(campaign)::text IS NULL OR utm ->> 'utm_campaign' = sqlc.narg(campaign))
    AND NOT EXISTS (SELECT FROM unnest(sqlc.narg(without)::text[]) AS none (parameter) WHERE utm ->> none.parameter <> '')
    AND (sqlc.narg(state)::text IS NULL OR sqlc.narg(state) = CASE
        WHEN EXISTS (SELECT FROM counted_submissions c WHERE c.account_id = submissions.account_id AND c.id = submissions.id AND c.view_count > 0) THEN 'viewed'
        WHEN verification_required AND NOT verified THEN 'awaiting_verification'
        ELSE 'ready' END)
    AND (sqlc.narg(after_at)::timestamptz IS NULL
        OR (submitted_at, id) > (sqlc.narg(after_at)::timestamptz, sqlc.narg(after_id)::uuid))
ORDER BY submitted_at, id
LIMIT sqlc.arg(row_limit)::bigint OFFSET sqlc.arg(row_offset)::bigint;

-- name: CountSubmissions :one
SELECT count(*) FROM submissions
WHERE generic_link_id = sqlc.arg(generic_link_id)
    AND (sqlc.narg(submission_id)::uuid IS NULL OR id = sqlc.narg(submission_id))
    AND (sqlc.narg(since)::timestamptz IS NULL OR submitted_at > sqlc.narg(since))
    AND (sqlc.narg(until)::timestamptz IS NULL OR submitted_at < sqlc.narg(until))
    AND (sqlc.narg(containing)::text IS NULL OR strpos(lower(email), lower(sqlc.narg(containing))) > 0
        OR strpos(lower(coalesce(name, '')), lower(sqlc.narg(containing))) > 0)
    AND (sqlc.narg(answers)::jsonb IS NULL OR lower(answers::text)::jsonb @> lower(sqlc.narg(answers)::jsonb::text)::jsonb)
    AND (sqlc.narg(source)::text IS NULL OR utm ->> 'utm_source' = sqlc.narg(source))
    AND (sqlc.narg(campaign)::text IS NULL OR utm ->> 'utm_campaign' = sqlc.narg(campaign))
    AND NOT EXISTS (SELECT FROM unnest(sqlc.narg(without)::text[]) AS none (parameter) WHERE utm ->> none.parameter <> '')
    AND (sqlc.narg(state)::text IS NULL OR sqlc.narg(state) = CASE
        WHEN EXISTS (SELECT FROM counted_submissions c WHERE c.account_id = submissions.account_id AND c.id = submissions.id AND c.view_count > 0) THEN 'viewed'
        WHEN verification_required AND NOT verified THEN 'awaiting_verification'
        ELSE 'ready' END);

-- name: VerificationEnds :many
-- Until when the mails to addresses that are not confirmed can be answered. The index is by account.
SELECT submission_id, max(expires_at)::timestamptz AS ends_at FROM verifications
WHERE submission_id = ANY (sqlc.arg(submission_ids)::uuid[]) GROUP BY submission_id;

-- name: AnswerKeys :many
-- The keys of all answers, as fields that were removed from the form have some as well.
SELECT DISTINCT jsonb_object_keys(answers)::text AS key FROM submissions WHERE generic_link_id = sqlc.arg(generic_link_id) ORDER BY key;

-- name: DeleteSubmission :one
-- Returns the generic link that it was of.
DELETE FROM submissions WHERE id = $1 RETURNING generic_link_id;

-- name: UncountSubmission :exec
UPDATE generic_links SET submission_count = submission_count - 1 WHERE id = $1;
