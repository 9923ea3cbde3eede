-- Erasing people: what Postgres loses, and what others consult.

-- name: PersonNow :one
-- The id that stands for an address, and the time of this database, by which its rows have theirs.
SELECT person_id(sqlc.arg(account_id)::uuid, sqlc.arg(email_key)::text)::uuid AS person_id, clock_timestamp()::timestamptz(3) AS now;

-- name: AddressesOfPerson :many
-- The addresses of which the id of a person was made. There is at most one: the id is a hash. Not scoped, since accounts cannot make ids.
SELECT s.email_key FROM submissions s WHERE s.account_id = sqlc.arg(account_id) AND person_id(s.account_id, s.email_key) = sqlc.arg(person_id)::uuid
UNION
SELECT a.email_key FROM access_links a WHERE a.account_id = sqlc.arg(account_id) AND person_id(a.account_id, a.email_key) = sqlc.arg(person_id)::uuid;

-- name: SubmissionsToErase :many
SELECT id, generic_link_id FROM submissions
WHERE generic_link_id IN (SELECT id FROM generic_links) AND email_key = sqlc.arg(email_key) AND submitted_at <= sqlc.arg(until)::timestamptz
ORDER BY id FOR UPDATE;

-- name: EraseSubmissions :exec
DELETE FROM submissions WHERE id = ANY (sqlc.arg(ids)::uuid[]);

-- name: UncountSubmissions :exec
-- The ids of generic links, one for each submission that was erased.
UPDATE generic_links l SET submission_count = l.submission_count - n.submissions
FROM (SELECT unnest(sqlc.arg(generic_link_ids)::uuid[]) AS id, count(*) AS submissions GROUP BY 1) AS n
WHERE l.id = n.id;

-- name: LinksToErase :many
SELECT id FROM access_links WHERE email_key = sqlc.arg(email_key) AND created_at <= sqlc.arg(until)::timestamptz ORDER BY id FOR UPDATE;

-- name: CountReading :one
SELECT count(DISTINCT s.id) AS sessions, count(d.id) AS downloads
FROM sessions s LEFT JOIN downloads d ON d.account_id = s.account_id AND d.session_id = s.id
WHERE s.access_link_id = ANY (sqlc.arg(access_link_ids)::uuid[]);

-- name: CountDeliveries :one
SELECT count(*) FROM webhook_deliveries
WHERE (access_link_id = ANY (sqlc.arg(access_link_ids)::uuid[]) OR submission_id = ANY (sqlc.arg(submission_ids)::uuid[])) AND num_nonnulls(body_clear, body_sealed) = 1;

-- name: EraseAccessLinks :exec
DELETE FROM access_links WHERE id = ANY (sqlc.arg(ids)::uuid[]);

-- name: InsertErasure :exec
INSERT INTO erasures (id, account_id, person_id, erased_at, removed) VALUES ($1, $2, $3, $4, $5);

-- name: InsertErasedLinks :exec
INSERT INTO erased_links (id, account_id, erasure_id)
SELECT unnest(sqlc.arg(ids)::uuid[]), sqlc.arg(account_id), sqlc.arg(erasure_id);

-- name: GetErasure :one
SELECT e.*, (SELECT count(*) FROM erased_links l WHERE l.erasure_id = e.id) AS links FROM erasures e WHERE e.id = $1;

-- name: KnownErasures :many
-- Which of the ids are on record.
SELECT id FROM erasures WHERE id = ANY (sqlc.arg(ids)::uuid[]);

-- name: JobsOfAccount :many
-- The jobs of a kind that wait for the account, and those that have ended and are not removed yet.
SELECT id, args FROM river_job WHERE kind = $1 ORDER BY id;

-- name: RemoveJob :exec
DELETE FROM river_job WHERE id = $1;

-- name: ChangeJob :exec
UPDATE river_job SET args = sqlc.arg(args)::jsonb WHERE id = sqlc.arg(id);

-- name: ForgetAnswer :exec
-- Not scoped, as AnswersOfAccount.
UPDATE idempotency_keys SET sealed = NULL WHERE account_id = $1 AND claim = $2 AND sealed IS NOT NULL;

-- name: ErasedLinksSince :many
-- What consumers are to know that was noted at a time or later, and the time of the look by the clock of the database.
SELECT id, clock_timestamp()::timestamptz(3) AS now FROM erased_links WHERE noted_at >= sqlc.arg(since)::timestamptz;

-- name: PendingErasures :many
SELECT id, erased_at FROM erasures WHERE blanked_at IS NULL ORDER BY erased_at LIMIT sqlc.arg(row_limit)::bigint;

-- name: LastBlanked :one
SELECT coalesce(max(blanked_at), '-infinity')::timestamptz > clock_timestamp() - make_interval(secs => sqlc.arg(seconds)::float8) AS recent FROM erasures;

-- name: LinksOfErasures :many
SELECT id, account_id FROM erased_links WHERE erasure_id = ANY (sqlc.arg(erasure_ids)::uuid[]) ORDER BY account_id, id;

-- name: SomeErasedLinks :many
SELECT id, account_id FROM erased_links WHERE id > sqlc.arg(after) ORDER BY id LIMIT sqlc.arg(row_limit)::bigint;

-- name: EndErasures :exec
UPDATE erasures SET blanked_at = clock_timestamp(), records_until = sqlc.narg(records_until)
WHERE id = ANY (sqlc.arg(ids)::uuid[]) AND blanked_at IS NULL;

-- name: PersonIDs :many
-- The ids that stand for an address in each account that is there or has erased someone.
SELECT person_id(a.id, sqlc.arg(email_key)::text)::uuid FROM (SELECT id FROM accounts UNION SELECT account_id FROM erasures) AS a (id);

-- name: CountPerson :one
-- What is stored of an address, in all accounts.
SELECT (SELECT count(*) FROM submissions s WHERE s.email_key = sqlc.arg(email_key)::text) AS submissions,
    (SELECT count(*) FROM access_links a WHERE a.email_key = sqlc.arg(email_key)::text) AS access_links,
    (SELECT count(*) FROM verifications v WHERE lower(v.email) = sqlc.arg(email_key)::text) AS verifications;

-- name: LinksOfPeople :many
-- What was erased of people.
SELECT l.id, l.account_id FROM erased_links l JOIN erasures e ON e.id = l.erasure_id WHERE e.person_id = ANY (sqlc.arg(person_ids)::uuid[]);

-- name: RemoveJobsOfAccount :exec
DELETE FROM river_job WHERE args ->> 'account_id' = sqlc.arg(account_id)::uuid::text;

-- name: RemoveUsersOfAccountOnly :exec
DELETE FROM users u WHERE EXISTS (SELECT FROM memberships m WHERE m.user_id = u.id AND m.account_id = sqlc.arg(account_id))
    AND NOT EXISTS (SELECT FROM memberships m WHERE m.user_id = u.id AND m.account_id <> sqlc.arg(account_id));

-- name: DeleteAccount :execrows
DELETE FROM accounts WHERE id = $1;
