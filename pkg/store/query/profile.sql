-- name: GetProfile :one
-- Who the person behind an access link is. The address is as typed for the newest of their links.
SELECT a.email_key,
    (SELECT n.email FROM access_links n WHERE n.account_id = a.account_id AND n.email_key = a.email_key
        ORDER BY n.created_at DESC, n.id DESC LIMIT 1)::text AS email,
    coalesce(person_name(a.account_id, a.email_key), '')::text AS name, p.name AS own_name, coalesce(p.status, c.open_statuses[1])::text AS status, p.note,
    coalesce(p.revision, 1)::bigint AS revision, p.updated_at, c.open_statuses, c.closed_statuses
FROM access_links a JOIN accounts c ON c.id = a.account_id
LEFT JOIN profiles p ON p.account_id = a.account_id AND p.email_key = a.email_key
WHERE a.account_id = sqlc.arg(account_id) AND a.id = sqlc.arg(access_link_id);

-- name: SaveProfile :execrows
-- Writes down what is given, if the profile is at one of the revisions, or at any for null.
INSERT INTO profiles (account_id, email_key, name, status, note)
VALUES (sqlc.arg(account_id), sqlc.arg(email_key), sqlc.narg(name), sqlc.narg(status), sqlc.narg(note))
ON CONFLICT (account_id, email_key) DO UPDATE SET
    name = CASE WHEN sqlc.arg(set_name)::boolean THEN excluded.name ELSE profiles.name END,
    status = CASE WHEN sqlc.arg(set_status)::boolean THEN excluded.status ELSE profiles.status END,
    note = CASE WHEN sqlc.arg(set_note)::boolean THEN excluded.note ELSE profiles.note END,
    revision = profiles.revision + 1, updated_at = clock_timestamp()
WHERE sqlc.narg(revisions)::bigint[] IS NULL OR profiles.revision = ANY (sqlc.narg(revisions)::bigint[]);

-- name: HoldAccessLink :exec
-- Keeps an access link from being deleted until the transaction ends.
SELECT FROM access_links WHERE id = $1 FOR KEY SHARE;

-- name: ProfileOfPerson :many
-- None or one.
SELECT * FROM profiles WHERE email_key = $1;

-- name: EraseProfile :execrows
DELETE FROM profiles WHERE email_key = sqlc.arg(email_key) AND created_at <= sqlc.arg(until)::timestamptz;
