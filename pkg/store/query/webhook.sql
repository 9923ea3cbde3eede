-- name: WebhookEndpointsFor :many
-- The endpoints that receive a kind of event. It names the account since whoever emits an event may
-- work outside an account's scope.
SELECT id, format FROM webhook_endpoints
WHERE account_id = sqlc.arg(account_id) AND is_active AND sqlc.arg(kind)::text = ANY (kinds);

-- name: InsertWebhookDeliveries :exec
-- The arrays are parallel.
INSERT INTO webhook_deliveries (id, account_id, endpoint_id, event_id, kind, body_sealed)
SELECT unnest(sqlc.arg(ids)::uuid[]), sqlc.arg(account_id), unnest(sqlc.arg(endpoint_ids)::uuid[]),
    unnest(sqlc.arg(event_ids)::uuid[]), sqlc.arg(kind), unnest(sqlc.arg(bodies_sealed)::bytea[]);

-- name: CountWebhooks :one
SELECT count(*) FROM webhook_endpoints;

-- name: InsertWebhook :one
INSERT INTO webhook_endpoints (id, account_id, format, url, url_sealed, description, kinds)
VALUES ($1, $2, $3, $4, $5, $6, $7)
RETURNING *;

-- name: GetWebhook :one
SELECT * FROM webhook_endpoints WHERE id = $1;

-- name: ListWebhooks :many
SELECT * FROM webhook_endpoints
ORDER BY created_at DESC, id DESC
LIMIT sqlc.arg(row_limit)::bigint OFFSET sqlc.arg(row_offset)::bigint;

-- name: UpdateWebhook :one
-- Changes what is given, if the endpoint is at one of the revisions, or at any for null. Activating it
-- begins a new count of failures.
UPDATE webhook_endpoints SET
    url = coalesce(sqlc.narg(url), url),
    url_sealed = coalesce(sqlc.narg(url_sealed), url_sealed),
    description = CASE WHEN sqlc.arg(set_description)::boolean THEN sqlc.narg(description) ELSE description END,
    kinds = coalesce(sqlc.narg(kinds)::text[], kinds),
    is_active = coalesce(sqlc.narg(is_active), is_active),
    disabled_reason = CASE sqlc.narg(is_active)::boolean WHEN true THEN NULL
        WHEN false THEN coalesce(disabled_reason, sqlc.arg(reason)::text) ELSE disabled_reason END,
    disabled_at = CASE sqlc.narg(is_active)::boolean WHEN true THEN NULL
        WHEN false THEN coalesce(disabled_at, now()) ELSE disabled_at END,
    failing_since = CASE WHEN sqlc.narg(is_active)::boolean AND NOT is_active THEN NULL ELSE failing_since END,
    failures = CASE WHEN sqlc.narg(is_active)::boolean AND NOT is_active THEN 0 ELSE failures END,
    revision = revision + 1, updated_at = clock_timestamp()
WHERE id = sqlc.arg(id) AND (sqlc.narg(revisions)::bigint[] IS NULL OR revision = ANY (sqlc.narg(revisions)::bigint[]))
RETURNING *;

-- name: DeleteWebhook :execrows
-- Its secrets and its log go with it.
DELETE FROM webhook_endpoints
WHERE id = sqlc.arg(id) AND (sqlc.narg(revisions)::bigint[] IS NULL OR revision = ANY (sqlc.narg(revisions)::bigint[]));

-- name: TouchWebhook :one
-- Raises the revision of an endpoint, and keeps others from changing it until the transaction ends.
UPDATE webhook_endpoints SET revision = revision + 1, updated_at = clock_timestamp() WHERE id = $1 RETURNING *;

-- name: InsertWebhookSecret :exec
INSERT INTO webhook_secrets (id, account_id, endpoint_id, sealed) VALUES ($1, $2, $3, $4);

-- name: ExpireWebhookSecrets :exec
-- Lets the secrets of an endpoint sign until a time, and none of them longer than before.
UPDATE webhook_secrets SET expires_at = least(expires_at, sqlc.arg(until)::timestamptz) WHERE endpoint_id = sqlc.arg(endpoint_id);

-- name: CountWebhookSecrets :one
-- Those that still sign.
SELECT count(*) FROM webhook_secrets WHERE endpoint_id = $1 AND (expires_at IS NULL OR expires_at > now());

-- name: InsertWebhookTest :one
-- A delivery that its maker attempts itself, at once.
INSERT INTO webhook_deliveries (id, account_id, endpoint_id, event_id, kind, body_sealed, claim, claimed_until)
VALUES ($1, $2, $3, $4, $5, $6, sqlc.arg(claim)::uuid, sqlc.arg(claimed_until)::timestamptz)
RETURNING *;

-- name: GetWebhookDelivery :one
SELECT * FROM webhook_deliveries WHERE endpoint_id = $1 AND id = $2;

-- name: ListWebhookDeliveries :many
SELECT * FROM webhook_deliveries
WHERE endpoint_id = sqlc.arg(endpoint_id)
    AND (sqlc.narg(state)::text IS NULL OR state = sqlc.narg(state))
    AND (sqlc.narg(before_at)::timestamptz IS NULL
        OR (created_at, id) < (sqlc.narg(before_at)::timestamptz, sqlc.narg(before_id)::uuid))
ORDER BY created_at DESC, id DESC
LIMIT sqlc.arg(row_limit)::bigint OFFSET sqlc.arg(row_offset)::bigint;

-- name: CountWebhookDeliveries :one
SELECT count(*) FROM webhook_deliveries
WHERE endpoint_id = sqlc.arg(endpoint_id) AND (sqlc.narg(state)::text IS NULL OR state = sqlc.narg(state));

-- name: ReplayWebhookDelivery :one
-- Makes a delivery due, with all its retries ahead of it. One that is being attempted goes on.
UPDATE webhook_deliveries SET state = 'pending', reason = NULL, tries = 0, next_attempt_at = now(), settled_at = NULL
WHERE endpoint_id = $1 AND id = $2
RETURNING *;
