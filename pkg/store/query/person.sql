-- What is stored of one person in an account: of the rows with the address, and of those that belong to them.

-- name: SubmissionsOfPerson :many
SELECT * FROM submissions WHERE generic_link_id IN (SELECT id FROM generic_links) AND email_key IN (sqlc.arg(email_key)::text, normalize(sqlc.arg(email_key)::text, NFD)) ORDER BY submitted_at, id;

-- name: AccessLinksOfPerson :many
SELECT * FROM access_links WHERE email_key = $1 ORDER BY created_at, id;

-- name: VerificationsOfPerson :many
SELECT * FROM verifications WHERE submission_id = ANY (sqlc.arg(submission_ids)::uuid[]) ORDER BY sent_at, id;

-- name: SessionsOfPerson :many
SELECT * FROM sessions WHERE access_link_id = ANY (sqlc.arg(access_link_ids)::uuid[]) ORDER BY started_at, id;

-- name: DownloadsOfPerson :many
SELECT * FROM downloads WHERE session_id = ANY (sqlc.arg(session_ids)::uuid[]) ORDER BY started_at, id;

-- name: DeliveriesOfPerson :many
SELECT * FROM webhook_deliveries
WHERE access_link_id = ANY (sqlc.arg(access_link_ids)::uuid[]) OR submission_id = ANY (sqlc.arg(submission_ids)::uuid[])
ORDER BY created_at, id;

-- name: AuditOfPerson :many
SELECT id, at, action, object_id, actor, user_id, session_id, key_id, request_id FROM audit_log
WHERE object_id = ANY (sqlc.arg(object_ids)::uuid[]) OR lower(actor) = sqlc.arg(email_key)::text
ORDER BY id;

-- name: NoticesOfPerson :many
SELECT session_id, access_link_id, news, send, recorded_at, settled_at FROM reading_notices
WHERE access_link_id = ANY (sqlc.arg(access_link_ids)::uuid[]) ORDER BY recorded_at, session_id;

-- name: QueueOfAccount :many
-- The mails or chat messages of the account that wait, and those that were sent or given up and are not removed yet.
SELECT id, args, state::text AS state, created_at FROM river_job WHERE kind = $1 ORDER BY id;

-- name: AnswersOfAccount :many
-- The answers that are kept for repeated requests. Not scoped: an operation has nothing to do with the answers to others.
SELECT operation, claim, claimed_at, sealed FROM idempotency_keys WHERE account_id = $1 AND sealed IS NOT NULL ORDER BY claimed_at, operation, key;

-- name: PersonID :one
-- The id that stands for an address where the address itself must not be kept: a keyed hash.
SELECT person_id(sqlc.arg(account_id)::uuid, sqlc.arg(email_key)::text)::uuid AS person_id;
