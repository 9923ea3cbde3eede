-- Erasing people: what Postgres loses, and what others consult.

-- name: PersonNow :one
-- The id that stands for an address, and the time of this database, by which its rows have theirs.
SELECT person_id(sqlc.arg(account_id)::uuid, sqlc.arg(email_key)::text)::uuid AS person_id, clock_timestamp()::timestamptz(3) AS now;

-- name: AddressesOfPerson :many
-- The addresses of which the id of a person was made. There is at most one: the id is a hash. Not scoped, since accounts cannot make ids.
SELECT s.email_key FROM submissions s WHERE s.account_id = sqlc.arg(account_id) AND person_id(s.account_id, s.email_key) = sqlc.arg(person_id)::uuid
UNION
SELECT a.email_key FROM access_links a WHERE a.account_id = sqlc.arg(account_id) AND person_id(a.account_id, a.email_key) = sqlc.arg(person_id)::uuid
UNION
SELECT p.email_key FROM profiles p WHERE p.account_id = sqlc.arg(account_id) AND person_id(p.account_id, p.email_key) = sqlc.arg(person_id)::uuid;

-- name: AwaitWriters :exec
-- Waits for the transactions that have added rows of an account, which hold its row for their references. It keeps no lock.
SELECT FROM accounts WHERE id = $1 FOR UPDATE;

-- name: SubmissionsToErase :many
SELECT id, generic_link_id FROM submissions
WHERE generic_link_id IN (SELECT id FROM generic_links) AND email_key IN (sqlc.arg(email_key)::text, normalize(sqlc.arg(email_key)::text, NFD)) AND (submitted_at <= sqlc.arg(until)::timestamptz OR id = ANY (sqlc.arg(ids)::uuid[]))
ORDER BY id FOR UPDATE;

-- name: EraseSubmissions :exec
DELETE FROM submissions WHERE id = ANY (sqlc.arg(ids)::uuid[]);

-- name: UncountSubmissions :exec
-- The ids of generic links, one for each submission that was erased.
UPDATE generic_links l SET submission_count = l.submission_count - n.submissions
FROM (SELECT unnest(sqlc.arg(generic_link_ids)::uuid[]) AS id, count(*) AS submissions GROUP BY 1) AS n
WHERE l.id = n.id;

-- name: LinksToErase :many
SELECT id FROM access_links WHERE email_key = sqlc.arg(email_key) AND (created_at <= sqlc.arg(until)::timestamptz OR id = ANY (sqlc.arg(ids)::uuid[])) ORDER BY id FOR UPDATE;

-- name: CountReading :one
SELECT count(DISTINCT s.id) AS sessions, count(d.id) AS downloads
FROM sessions s LEFT JOIN downloads d ON d.account_id = s.account_id AND d.session_id = s.id
WHERE s.access_link_id = ANY (sqlc.arg(access_link_ids)::uuid[]);

-- name: EraseAccessLinks :exec
DELETE FROM access_links WHERE id = ANY (sqlc.arg(ids)::uuid[]);

-- name: InsertErasure :execrows
-- Two processes may do the same erasure: the one that was asked for it, and one that starts and finds it in the log. The second waits for the first.
INSERT INTO erasures (id, account_id, person_id, erased_at, removed) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id) DO NOTHING;

-- name: RecordAccountErasure :exec
-- The erasure of an account whole, which has the id of the account. Of an account that a restore brought back, it is pending again.
WITH again AS (DELETE FROM erasure_copies WHERE erasure_id = sqlc.arg(id))
INSERT INTO erasures (id, account_id, person_id, erased_at, removed)
VALUES (sqlc.arg(id), sqlc.arg(account_id), '00000000-0000-0000-0000-000000000000', sqlc.arg(erased_at), '{}')
ON CONFLICT (id) DO UPDATE SET erased_at = EXCLUDED.erased_at, blanked_at = NULL, records_until = NULL;

-- name: InsertErasedLinks :exec
-- Two erasures may have the same link: of two requests for one person, the first of which failed and is repeated from the log.
INSERT INTO erased_links (id, account_id, erasure_id)
SELECT unnest(sqlc.arg(ids)::uuid[]), sqlc.arg(account_id), sqlc.arg(erasure_id)
ON CONFLICT (id) DO NOTHING;

-- name: GetErasure :one
SELECT e.*, (SELECT count(*) FROM erased_links l WHERE l.erasure_id = e.id) AS links FROM erasures e WHERE e.id = $1;

-- name: KnownErasures :many
-- Which of the ids are on record.
SELECT id FROM erasures WHERE id = ANY (sqlc.arg(ids)::uuid[]);

-- name: PruneJobs :exec
-- Whatever state they are in: what is older has been tried for days.
DELETE FROM river_job WHERE created_at < clock_timestamp() - make_interval(secs => sqlc.arg(seconds)::float8);

-- name: VacuumDue :one
-- Whether a person was erased within the last days, and a day has passed without a VACUUM of the tables that had the person.
SELECT (EXISTS (SELECT FROM erasures WHERE erased_at > clock_timestamp() - make_interval(secs => sqlc.arg(seconds)::float8))
    AND coalesce(pg_stat_get_last_vacuum_time('access_links'::regclass), '-infinity') < clock_timestamp() - interval '1 day')::boolean;

-- name: EraseFromGates :exec
-- Takes an address out of the lists of links. An empty list allows everyone: in place of the last address comes one that no one has.
UPDATE generic_links SET revision = revision + 1, updated_at = clock_timestamp(), blocked_emails = array_remove(blocked_emails, sqlc.arg(email_key)::text),
    allowed_emails = CASE WHEN allowed_emails = ARRAY[sqlc.arg(email_key)::text] THEN ARRAY['erased.invalid'] ELSE array_remove(allowed_emails, sqlc.arg(email_key)::text) END
WHERE sqlc.arg(email_key)::text = ANY (allowed_emails || blocked_emails);

-- name: VacuumPeople :exec
-- Removes deleted rows, of statistics as well, and renews these. Another process may be at it: its tables are left out.
VACUUM (ANALYZE, SKIP_LOCKED) submissions, profiles, recipients, views, generic_links, verifications, webhook_deliveries, idempotency_keys, user_sessions, river_job, pg_statistic, access_links;

-- name: VacuumAll :exec
VACUUM (ANALYZE);

-- name: ErasedLinksSince :many
-- What consumers are to know that was noted at a time or later, and the time of the look by the clock of the database.
SELECT id, clock_timestamp()::timestamptz(3) AS now FROM erased_links WHERE noted_at >= sqlc.arg(since)::timestamptz;

-- name: PendingErasures :many
-- Those that are not done in a copy.
SELECT e.id, e.erased_at FROM erasures e
WHERE e.blanked_at IS NULL AND NOT EXISTS (SELECT FROM erasure_copies c WHERE c.erasure_id = e.id AND c.copy = sqlc.arg(copy)) ORDER BY e.erased_at LIMIT sqlc.arg(row_limit)::bigint;

-- name: LastBlanked :one
SELECT coalesce(max(blanked_at), '-infinity')::timestamptz > clock_timestamp() - make_interval(secs => sqlc.arg(seconds)::float8) AS recent
FROM erasure_copies WHERE copy = sqlc.arg(copy);

-- name: LinksOfErasures :many
SELECT id, account_id FROM erased_links WHERE erasure_id = ANY (sqlc.arg(erasure_ids)::uuid[]) ORDER BY account_id, id;

-- name: SomeErasedLinks :many
SELECT id, account_id FROM erased_links WHERE id > sqlc.arg(after) ORDER BY id LIMIT sqlc.arg(row_limit)::bigint;

-- name: CountUndatedErasures :one
SELECT count(*) FROM erasures WHERE blanked_at IS NOT NULL AND records_until IS NULL;

-- name: DateErasures :exec
UPDATE erasures SET records_until = blanked_at + make_interval(secs => sqlc.arg(seconds)::float8) WHERE blanked_at IS NOT NULL AND records_until IS NULL;

-- name: EndErasures :exec
-- Says that erasures are done in a copy.
INSERT INTO erasure_copies (erasure_id, copy) SELECT unnest(sqlc.arg(ids)::uuid[]), sqlc.arg(copy) ON CONFLICT DO NOTHING;

-- name: CompleteErasures :exec
-- Says that erasures are done which are so in every copy. It is not to share a transaction with EndErasures: then neither of two copies that
-- end at the same time would see the other.
SELECT complete_erasures();

-- name: ReopenErasures :execrows
-- For a copy that was restored: what it has of all erasures is looked for from the beginning.
WITH none AS (DELETE FROM erasure_copies WHERE copy = sqlc.arg(copy))
UPDATE erasures SET blanked_at = NULL, records_until = NULL WHERE blanked_at IS NOT NULL;

-- name: PersonIDs :many
-- The ids that stand for an address in each account that is there or has erased someone.
SELECT person_id(a.id, sqlc.arg(email_key)::text)::uuid FROM (SELECT id FROM accounts UNION SELECT account_id FROM erasures) AS a (id);

-- name: CountPerson :one
-- What is stored of an address, in all accounts.
SELECT (SELECT count(*) FROM submissions s WHERE s.email_key IN (sqlc.arg(email_key)::text, normalize(sqlc.arg(email_key)::text, NFD))) AS submissions,
    (SELECT count(*) FROM access_links a WHERE a.email_key = sqlc.arg(email_key)::text) AS access_links,
    (SELECT count(*) FROM verifications v JOIN submissions s ON s.id = v.submission_id WHERE s.email_key IN (sqlc.arg(email_key)::text, normalize(sqlc.arg(email_key)::text, NFD))) AS verifications,
    (SELECT count(*) FROM profiles p WHERE p.email_key = sqlc.arg(email_key)::text) AS profiles;

-- name: LinksOfPeople :many
-- What was erased of people, and what was deleted of them before.
SELECT l.id, l.account_id FROM erased_links l JOIN erasures e ON e.id = l.erasure_id WHERE e.person_id = ANY (sqlc.arg(person_ids)::uuid[])
UNION SELECT d.id, d.account_id FROM deleted_links d WHERE d.person_id = ANY (sqlc.arg(person_ids)::uuid[]);

-- name: RemoveJobsOfAccount :exec
DELETE FROM river_job WHERE args ->> 'account_id' = sqlc.arg(account_id)::uuid::text;

-- name: RemoveUsersOfAccountOnly :exec
DELETE FROM users u WHERE EXISTS (SELECT FROM memberships m WHERE m.user_id = u.id AND m.account_id = sqlc.arg(account_id))
    AND NOT EXISTS (SELECT FROM memberships m WHERE m.user_id = u.id AND m.account_id <> sqlc.arg(account_id));

-- name: DeleteAccount :execrows
DELETE FROM accounts WHERE id = $1;

-- name: ErasureLook :one
-- How far the look for events of erased people is, and the time of this database.
SELECT looked_at, began_at, after, clock_timestamp()::timestamptz AS now FROM erasure_looks WHERE copy = sqlc.arg(copy);

-- name: ContinueErasureLook :exec
UPDATE erasure_looks SET began_at = sqlc.arg(began_at)::timestamptz, after = sqlc.arg(after) WHERE copy = sqlc.arg(copy);

-- name: EndErasureLook :exec
UPDATE erasure_looks SET looked_at = began_at, began_at = NULL, after = '00000000-0000-0000-0000-000000000000' WHERE copy = sqlc.arg(copy);

