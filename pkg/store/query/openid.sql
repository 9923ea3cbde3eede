-- name: InsertOpenIDRequest :exec
INSERT INTO openid_requests (state_hash, browser_hash, secrets_sealed, next, expires_at)
VALUES ($1, $2, $3, $4, clock_timestamp() + sqlc.arg(lasts)::interval);

-- name: TakeOpenIDRequest :one
-- Uses it up.
DELETE FROM openid_requests WHERE state_hash = $1
RETURNING browser_hash, secrets_sealed, next, (expires_at <= clock_timestamp())::boolean AS over;

-- name: ForgetOpenIDRequests :exec
DELETE FROM openid_requests WHERE expires_at < clock_timestamp();

-- name: UserOfIdentity :one
SELECT user_id FROM openid_identities WHERE issuer = $1 AND subject = $2;

-- name: UserOfEmail :one
SELECT id FROM users WHERE email_key = $1;

-- name: LinkIdentity :exec
INSERT INTO openid_identities (issuer, subject, user_id) VALUES ($1, $2, $3) ON CONFLICT (issuer, subject) DO NOTHING;

-- name: TakeInvitationsOf :many
-- Of every account: uses up the invitations of an address.
DELETE FROM invitations WHERE email_key = $1 AND expires_at > clock_timestamp() RETURNING account_id, role;

-- name: AccountToEnter :one
-- The account that a user used last.
SELECT account_id FROM memberships WHERE user_id = $1 ORDER BY last_seen_at DESC NULLS LAST, created_at, account_id LIMIT 1;
