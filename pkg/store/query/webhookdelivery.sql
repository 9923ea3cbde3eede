-- What delivers works for all accounts at once, outside of any account's scope. Times are those of the
-- process that delivers, so that its tests need not wait.

-- name: LockDueWebhooks :many
-- Locks endpoints with deliveries that are due, the longest waiting first, and leaves out those that
-- another process has locked. It skips from endpoint to endpoint through the index of what is pending,
-- so an endpoint with many deliveries costs no more than one with a few. After a restore there are none, until it is resumed.
WITH RECURSIVE waiting AS (
    (SELECT d.endpoint_id FROM webhook_deliveries d WHERE d.state = 'pending' ORDER BY d.endpoint_id LIMIT 1)
    UNION ALL
    SELECT (
        SELECT d.endpoint_id FROM webhook_deliveries d
        WHERE d.state = 'pending' AND d.endpoint_id > w.endpoint_id ORDER BY d.endpoint_id LIMIT 1)
    FROM waiting w WHERE w.endpoint_id IS NOT NULL
), due AS (
    SELECT w.endpoint_id, (
        SELECT min(d.next_attempt_at) FROM webhook_deliveries d
        WHERE d.endpoint_id = w.endpoint_id AND d.state = 'pending' AND d.next_attempt_at <= sqlc.arg(at)::timestamptz
            AND (d.claim IS NULL OR d.claimed_until <= sqlc.arg(at)::timestamptz)) AS since
    FROM waiting w WHERE w.endpoint_id IS NOT NULL
)
SELECT e.id FROM webhook_endpoints e JOIN due ON due.endpoint_id = e.id
WHERE e.is_active AND due.since IS NOT NULL AND NOT EXISTS (SELECT FROM restored r WHERE r.resumed_at IS NULL)
ORDER BY due.since
LIMIT sqlc.arg(row_limit)::bigint
FOR NO KEY UPDATE OF e SKIP LOCKED;

-- name: ClaimWebhookDeliveries :many
-- Claims deliveries that are due of endpoints that this transaction has locked, for each no more than
-- leave it with max_claims at once.
WITH chosen AS (
    SELECT d.id FROM unnest(sqlc.arg(endpoint_ids)::uuid[]) AS e (id)
    CROSS JOIN LATERAL (
        SELECT p.id FROM webhook_deliveries p
        WHERE p.endpoint_id = e.id AND p.state = 'pending' AND p.next_attempt_at <= sqlc.arg(at)::timestamptz
            AND (p.claim IS NULL OR p.claimed_until <= sqlc.arg(at)::timestamptz)
        ORDER BY p.next_attempt_at
        LIMIT greatest(0, sqlc.arg(max_claims)::bigint - (
            SELECT count(*) FROM webhook_deliveries c
            WHERE c.endpoint_id = e.id AND c.claim IS NOT NULL AND c.claimed_until > sqlc.arg(at)::timestamptz))
    ) AS d
    LIMIT sqlc.arg(row_limit)::bigint
)
UPDATE webhook_deliveries d SET claim = gen_random_uuid(), claimed_until = sqlc.arg(until)::timestamptz
FROM chosen, webhook_endpoints e
WHERE d.id = chosen.id AND e.id = d.endpoint_id
RETURNING sqlc.embed(d), e.format, e.url, e.url_sealed;

-- name: WebhookSecrets :many
-- What an endpoint's deliveries are signed with, the newest first.
SELECT id, sealed FROM webhook_secrets
WHERE endpoint_id = sqlc.arg(endpoint_id) AND (expires_at IS NULL OR expires_at > sqlc.arg(at)::timestamptz)
ORDER BY created_at DESC, id DESC;

-- name: SealedOfWebhooks :many
-- Secrets and URLs after an id, in its order.
SELECT s.id, s.endpoint_id, s.sealed, false AS is_url FROM webhook_secrets s WHERE s.id > sqlc.arg(after)
UNION ALL SELECT e.id, e.id, e.url_sealed, true FROM webhook_endpoints e WHERE e.id > sqlc.arg(after)
ORDER BY id LIMIT sqlc.arg(row_limit)::bigint;

-- name: ResealWebhook :exec
-- Changes nothing if another process has sealed the secret or URL meanwhile.
WITH secret AS (UPDATE webhook_secrets s SET sealed = sqlc.arg(sealed) WHERE s.id = sqlc.arg(id) AND s.sealed = sqlc.arg(was))
UPDATE webhook_endpoints e SET url_sealed = sqlc.arg(sealed) WHERE e.id = sqlc.arg(id) AND e.url_sealed = sqlc.arg(was);

-- name: WebhookSucceeded :exec
UPDATE webhook_endpoints SET failing_since = NULL, failures = 0 WHERE id = $1 AND failures > 0;

-- name: WebhookFailed :one
UPDATE webhook_endpoints SET failures = failures + 1, failing_since = coalesce(failing_since, sqlc.arg(at)::timestamptz)
WHERE id = sqlc.arg(id)
RETURNING *;

-- name: DisableWebhook :one
UPDATE webhook_endpoints SET is_active = false, disabled_reason = sqlc.arg(reason)::text, disabled_at = sqlc.arg(at)::timestamptz,
    revision = revision + 1, updated_at = clock_timestamp()
WHERE id = sqlc.arg(id) AND is_active
RETURNING *;

-- name: SettleWebhookDelivery :one
-- Writes down an attempt by whoever still has the claim. Only the last attempts are stored.
UPDATE webhook_deliveries SET
    state = sqlc.arg(state), reason = sqlc.narg(reason), tries = tries + 1, next_attempt_at = sqlc.narg(next_attempt_at),
    settled_at = sqlc.narg(settled_at), claim = NULL, claimed_until = NULL,
    attempts = (CASE WHEN jsonb_array_length(attempts) >= sqlc.arg(keep)::integer THEN attempts - 0 ELSE attempts END)
        || sqlc.arg(attempt)::jsonb
WHERE id = sqlc.arg(id) AND claim = sqlc.arg(claim)::uuid
RETURNING *;

-- name: ReleaseWebhookDelivery :exec
-- Gives back a claim whose attempt was broken off.
UPDATE webhook_deliveries SET claim = NULL, claimed_until = NULL WHERE id = sqlc.arg(id) AND claim = sqlc.arg(claim)::uuid;

-- name: DropWebhookDeliveries :exec
-- Gives up what waits for an endpoint that is not active any more. What is being attempted is settled by whoever does so.
UPDATE webhook_deliveries SET state = 'failed', reason = sqlc.arg(reason)::text, next_attempt_at = NULL,
    settled_at = sqlc.arg(at)::timestamptz, claim = NULL, claimed_until = NULL
WHERE endpoint_id = sqlc.arg(id) AND state = 'pending' AND (claim IS NULL OR claimed_until <= sqlc.arg(at)::timestamptz);

-- name: PruneWebhooks :exec
-- Removes old messages, and secrets that sign nothing any more.
WITH expired AS (DELETE FROM webhook_secrets WHERE expires_at < clock_timestamp())
DELETE FROM webhook_deliveries WHERE created_at < clock_timestamp() - make_interval(secs => sqlc.arg(seconds)::float8);
