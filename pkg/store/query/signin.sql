-- name: UserByEmail :one
-- The user that an address belongs to, if it may sign in to an account: the one that was used last.
SELECT u.id, u.email, m.account_id, a.language FROM users u JOIN memberships m ON m.user_id = u.id JOIN accounts a ON a.id = m.account_id
WHERE u.email_key = $1 ORDER BY m.last_seen_at DESC NULLS LAST, m.created_at, m.account_id LIMIT 1;

-- name: AccountsOfUser :many
-- The accounts that a user may sign in to, the one that was used last first.
SELECT m.account_id, a.name, m.role FROM memberships m JOIN accounts a ON a.id = m.account_id
WHERE m.user_id = $1 ORDER BY m.last_seen_at DESC NULLS LAST, m.created_at, m.account_id;

-- name: InsertSignIn :exec
INSERT INTO sign_ins (id, user_id, email, browser_hash, page_hash, link_hash, code_hash, next, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp() + sqlc.arg(lasts)::interval);

-- name: SignInByPage :one
SELECT *, (expires_at <= clock_timestamp())::boolean AS over FROM sign_ins WHERE page_hash = $1;

-- name: SignInByLink :one
SELECT *, (expires_at <= clock_timestamp())::boolean AS over FROM sign_ins WHERE link_hash = $1;

-- name: TrySignInCode :one
-- Counts a try, unless the code may not be tried any more.
UPDATE sign_ins SET attempts = attempts + 1
WHERE id = $1 AND used_at IS NULL AND expires_at > clock_timestamp() AND attempts < sqlc.arg(max_attempts)
RETURNING code_hash;

-- name: UseSignIn :one
-- Uses it up, once.
UPDATE sign_ins SET used_at = clock_timestamp() WHERE id = $1 AND used_at IS NULL AND expires_at > clock_timestamp()
RETURNING user_id;

-- name: ResendSignIn :execrows
UPDATE sign_ins SET mails = mails + 1, sent_at = clock_timestamp()
WHERE id = $1 AND used_at IS NULL AND expires_at > clock_timestamp() AND mails < sqlc.arg(max_mails) AND sent_at < clock_timestamp() - sqlc.arg(pause)::interval;

-- name: DeleteUnboundSignIns :exec
-- The links of earlier starts of lodestone up.
DELETE FROM sign_ins WHERE user_id = $1 AND browser_hash IS NULL;

-- name: ForgetSignIns :exec
DELETE FROM sign_ins WHERE expires_at < clock_timestamp() - interval '1 hour';

-- name: AccountName :one
SELECT name FROM accounts WHERE id = $1;

-- name: UserByID :one
SELECT u.id, u.email, m.account_id, a.language FROM users u JOIN memberships m ON m.user_id = u.id JOIN accounts a ON a.id = m.account_id
WHERE u.id = $1 ORDER BY m.last_seen_at DESC NULLS LAST, m.created_at, m.account_id LIMIT 1;

-- name: UserOfSignIn :one
-- The user of a try to sign in, and the account that was used last.
SELECT u.id, m.account_id FROM sign_ins s JOIN users u ON u.id = s.user_id JOIN memberships m ON m.user_id = u.id
WHERE s.id = $1 ORDER BY m.last_seen_at DESC NULLS LAST, m.created_at, m.account_id LIMIT 1;
