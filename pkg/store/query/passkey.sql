-- Of people, in whatever account.

-- name: InsertPasskey :exec
INSERT INTO passkeys (id, user_id, credential_id, credential, name) VALUES ($1, $2, $3, $4, $5);

-- name: PasskeysOfUser :many
SELECT id, name, credential, created_at, last_used_at FROM passkeys WHERE user_id = $1 ORDER BY id DESC;

-- name: PasskeyByCredential :one
-- Locks it, so that of two uses at once the second is compared with the counter of the first.
SELECT id, user_id, credential FROM passkeys WHERE credential_id = $1 FOR UPDATE;

-- name: NotePasskeyUse :exec
UPDATE passkeys SET credential = $2, last_used_at = clock_timestamp() WHERE id = $1;

-- name: DeletePasskey :execrows
DELETE FROM passkeys WHERE id = $1 AND user_id = $2;

-- name: LockUser :exec
SELECT FROM users WHERE id = $1 FOR UPDATE;

-- name: InsertPasskeyChallenge :exec
INSERT INTO passkey_challenges (challenge_hash, holder_hash, ceremony, expires_at)
VALUES ($1, $2, $3, clock_timestamp() + sqlc.arg(lasts)::interval);

-- name: TakePasskeyChallenge :one
-- Uses it up.
DELETE FROM passkey_challenges WHERE challenge_hash = $1
RETURNING holder_hash, ceremony, (expires_at <= clock_timestamp())::boolean AS over;

-- name: ForgetPasskeyChallenges :exec
DELETE FROM passkey_challenges WHERE expires_at < clock_timestamp();
