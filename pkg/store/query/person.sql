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

-- name: AuditOfPerson :many
SELECT id, at, action, object_id, actor, user_id, session_id, key_id, request_id FROM audit_log
WHERE object_id = ANY (sqlc.arg(object_ids)::uuid[]) OR lower(actor) = sqlc.arg(email_key)::text
ORDER BY id;

-- name: PersonID :one
-- The id that stands for an address where the address itself must not be kept: a keyed hash.
SELECT person_id(sqlc.arg(account_id)::uuid, sqlc.arg(email_key)::text)::uuid AS person_id;
