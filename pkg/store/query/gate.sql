-- name: KeepAgreement :one
-- Returns the id of a text of a link, which is added if no one accepted it before.
INSERT INTO agreements (id, account_id, generic_link_id, digest, title, text) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT ON CONSTRAINT agreements_digest DO UPDATE SET digest = excluded.digest
RETURNING id;

-- name: AcceptAgreement :exec
-- The first time counts.
INSERT INTO acceptances (submission_id, agreement_id, account_id, accepted_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING;

-- name: AcceptedAgreements :many
-- What was accepted with submissions, oldest first.
SELECT c.submission_id, c.accepted_at, a.title, a.text FROM acceptances c
JOIN agreements a ON a.account_id = c.account_id AND a.id = c.agreement_id
WHERE c.submission_id = ANY (sqlc.arg(submission_ids)::uuid[])
ORDER BY c.accepted_at, c.agreement_id;

-- name: IsLinkFull :one
-- Whether the form of a link has taken as many people as it may.
SELECT coalesce(submission_count >= max_people, false)::boolean FROM generic_links WHERE id = $1;

-- name: MarkedLinks :one
-- The slugs of a document's links with a watermark, and how many personal links have one from a deleted link.
SELECT (SELECT coalesce(array_agg(slug ORDER BY slug), '{}') FROM generic_links WHERE generic_links.lead_magnet_id = sqlc.arg(lead_magnet_id) AND watermark)::text[] AS slugs,
    (SELECT count(*) FROM access_links WHERE access_links.lead_magnet_id = sqlc.arg(lead_magnet_id) AND watermark AND is_active
        AND (expires_at IS NULL OR expires_at > clock_timestamp())) AS personal;
