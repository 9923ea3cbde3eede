-- name: WebhookEndpointsFor :many
-- The endpoints to be told of a kind of event. It names the account since whoever emits an event may
-- work outside an account's scope.
SELECT id FROM webhook_endpoints
WHERE account_id = sqlc.arg(account_id) AND is_active AND sqlc.arg(kind)::text = ANY (kinds);

-- name: InsertWebhookDeliveries :exec
-- The arrays are parallel.
INSERT INTO webhook_deliveries (id, account_id, endpoint_id, event_id, kind, body)
SELECT unnest(sqlc.arg(ids)::uuid[]), sqlc.arg(account_id), unnest(sqlc.arg(endpoint_ids)::uuid[]),
    unnest(sqlc.arg(event_ids)::uuid[]), sqlc.arg(kind), unnest(sqlc.arg(bodies)::text[]);
