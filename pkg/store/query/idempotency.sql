-- name: ClaimIdempotencyKey :execrows
INSERT INTO idempotency_keys (account_id, operation, key, request, claim, claimed_at, given_up_at)
VALUES (sqlc.arg(account_id), sqlc.arg(operation), sqlc.arg(key), sqlc.arg(request), sqlc.arg(claim), now(), now() + make_interval(secs => sqlc.arg(seconds)::float8))
ON CONFLICT DO NOTHING;

-- name: FindIdempotencyKey :one
SELECT request, claim, took_effect, (answered_at IS NOT NULL)::boolean AS answered, (given_up_at < now())::boolean AS given_up,
    (claimed_at < now() - make_interval(secs => sqlc.arg(keep_seconds)::float8))::boolean AS expired, status, header, sealed
FROM idempotency_keys WHERE account_id = $1 AND operation = $2 AND key = sqlc.arg(key);

-- name: TakeOverIdempotencyKey :execrows
-- Replaces a claim that expired, or that was given up without an effect.
UPDATE idempotency_keys SET request = sqlc.arg(request), claim = sqlc.arg(new_claim), claimed_at = now(), given_up_at = now() + make_interval(secs => sqlc.arg(seconds)::float8),
    took_effect = false, answered_at = NULL, status = NULL, header = NULL, sealed = NULL
WHERE account_id = $1 AND operation = $2 AND key = sqlc.arg(key) AND claim = sqlc.arg(claim)
  AND (claimed_at < now() - make_interval(secs => sqlc.arg(keep_seconds)::float8) OR NOT took_effect AND given_up_at < now());

-- name: MarkIdempotencyKey :execrows
UPDATE idempotency_keys SET took_effect = true WHERE account_id = $1 AND operation = $2 AND key = sqlc.arg(key) AND claim = sqlc.arg(claim);

-- name: AnswerIdempotencyKey :exec
UPDATE idempotency_keys SET took_effect = true, answered_at = now(), status = sqlc.arg(status)::integer, header = sqlc.arg(header), sealed = sqlc.narg(sealed)
WHERE account_id = $1 AND operation = $2 AND key = sqlc.arg(key) AND claim = sqlc.arg(claim);

-- name: ReleaseIdempotencyKey :exec
-- A key whose operation took effect stays used, without an answer.
WITH used AS (
    UPDATE idempotency_keys u SET given_up_at = now() - interval '1 second'
    WHERE u.account_id = $1 AND u.operation = $2 AND u.key = sqlc.arg(key) AND u.claim = sqlc.arg(claim) AND u.took_effect
)
DELETE FROM idempotency_keys d WHERE d.account_id = $1 AND d.operation = $2 AND d.key = sqlc.arg(key) AND d.claim = sqlc.arg(claim) AND NOT d.took_effect;

-- name: RemoveExpiredIdempotencyKeys :exec
DELETE FROM idempotency_keys WHERE claimed_at < now() - make_interval(secs => sqlc.arg(keep_seconds)::float8);
