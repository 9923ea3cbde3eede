-- Of the account that the transaction is scoped to, unless a comment says otherwise.

-- name: ListPeople :many
SELECT u.id, u.email, m.role, m.created_at, m.last_seen_at FROM memberships m JOIN users u ON u.id = m.user_id
ORDER BY m.created_at DESC, u.id DESC
LIMIT sqlc.arg(row_limit)::bigint OFFSET sqlc.arg(row_offset)::bigint;

-- name: CountPeople :one
SELECT count(*) FROM memberships;

-- name: GetPerson :one
SELECT u.id, u.email, m.role, m.created_at, m.last_seen_at FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.user_id = $1;

-- name: CountOtherOwners :one
SELECT count(*) FROM memberships WHERE role = 'owner' AND user_id <> $1;

-- name: ChangeRole :execrows
UPDATE memberships SET role = $2 WHERE user_id = $1;

-- name: RemovePerson :execrows
DELETE FROM memberships WHERE user_id = $1;

-- name: IsPerson :one
SELECT EXISTS (SELECT FROM memberships m JOIN users u ON u.id = m.user_id WHERE u.email_key = $1);

-- name: ListInvitations :many
SELECT id, email, role, created_at, expires_at FROM invitations
ORDER BY created_at DESC, id DESC
LIMIT sqlc.arg(row_limit)::bigint OFFSET sqlc.arg(row_offset)::bigint;

-- name: CountInvitations :one
SELECT count(*) FROM invitations;

-- name: GetInvitation :one
SELECT id, email, role, created_at, expires_at FROM invitations WHERE id = $1;

-- name: Invite :one
-- Another invitation of the same address takes the place of the one before, whose link ends.
INSERT INTO invitations (id, account_id, email, email_key, role, secret_hash, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, clock_timestamp() + sqlc.arg(lasts)::interval)
ON CONFLICT ON CONSTRAINT invitations_email DO UPDATE SET email = $3, role = $5, secret_hash = $6,
    created_at = clock_timestamp(), expires_at = clock_timestamp() + sqlc.arg(lasts)::interval
RETURNING id, email, role, created_at, expires_at;

-- name: DeleteInvitation :execrows
DELETE FROM invitations WHERE id = $1;

-- name: InvitationBySecret :one
-- Of any account.
SELECT i.id, i.account_id, i.email, i.email_key, i.role, a.name AS account_name FROM invitations i JOIN accounts a ON a.id = i.account_id
WHERE i.secret_hash = $1 AND i.expires_at > clock_timestamp();

-- name: TakeInvitation :one
-- Of any account: uses the invitation up.
DELETE FROM invitations WHERE id = $1 AND secret_hash = $2 AND expires_at > clock_timestamp()
RETURNING account_id, email, email_key, role;

-- name: ForgetInvitations :exec
-- Of every account. The list shows for a month that an invitation was not accepted.
DELETE FROM invitations WHERE expires_at < clock_timestamp() - interval '30 days';

-- name: AddUser :one
-- Of no account: the user that an address belongs to, added if there is none.
INSERT INTO users (id, email, email_key) VALUES ($1, $2, $3)
ON CONFLICT (email_key) DO UPDATE SET email_key = excluded.email_key
RETURNING id;

-- name: AddMembership :exec
-- Of any account: who is one of its people has the role from now on.
INSERT INTO memberships (account_id, user_id, role) VALUES ($1, $2, $3)
ON CONFLICT (account_id, user_id) DO UPDATE SET role = excluded.role;

-- name: JoinAccount :exec
-- Of any account: who is one of its people keeps the role.
INSERT INTO memberships (account_id, user_id, role) VALUES ($1, $2, $3) ON CONFLICT (account_id, user_id) DO NOTHING;

-- name: ListUserSessions :many
-- Those that are alive: of everyone if both ids are null.
SELECT s.id, s.user_id, s.key_id, u.email, s.method, s.user_agent, s.started_at, s.last_active_at,
    user_session_end(s.started_at, s.last_active_at, s.ended_at)::timestamptz AS ends_at
FROM user_sessions s LEFT JOIN users u ON u.id = s.user_id LEFT JOIN api_keys k ON k.id = s.key_id
WHERE user_session_end(s.started_at, s.last_active_at, s.ended_at) > clock_timestamp()
    AND (s.key_id IS NULL OR k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp()))
    AND (sqlc.narg(user_id)::uuid IS NULL OR s.user_id = sqlc.narg(user_id))
    AND (sqlc.narg(key_id)::uuid IS NULL OR s.key_id = sqlc.narg(key_id))
ORDER BY s.started_at DESC, s.id DESC
LIMIT sqlc.arg(row_limit)::bigint OFFSET sqlc.arg(row_offset)::bigint;

-- name: CountUserSessions :one
SELECT count(*) FROM user_sessions s LEFT JOIN api_keys k ON k.id = s.key_id
WHERE user_session_end(s.started_at, s.last_active_at, s.ended_at) > clock_timestamp()
    AND (s.key_id IS NULL OR k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp()))
    AND (sqlc.narg(user_id)::uuid IS NULL OR s.user_id = sqlc.narg(user_id))
    AND (sqlc.narg(key_id)::uuid IS NULL OR s.key_id = sqlc.narg(key_id));

-- name: EndUserSession :execrows
UPDATE user_sessions SET ended_at = date_trunc('milliseconds', clock_timestamp())
WHERE id = sqlc.arg(id) AND user_session_end(started_at, last_active_at, ended_at) > clock_timestamp()
    AND (sqlc.narg(user_id)::uuid IS NULL OR user_id = sqlc.narg(user_id))
    AND (sqlc.narg(key_id)::uuid IS NULL OR key_id = sqlc.narg(key_id));

-- name: HoldUserSession :one
-- Whether a user's session is alive and what its user is, which stays so until the transaction ends.
SELECT m.role FROM user_sessions s JOIN memberships m ON m.account_id = s.account_id AND m.user_id = s.user_id
WHERE s.id = $1 AND user_session_end(s.started_at, s.last_active_at, s.ended_at) > clock_timestamp() FOR SHARE;
