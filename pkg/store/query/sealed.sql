-- name: LinkTokensByKey :many
SELECT token_key, count(*) AS tokens FROM access_links GROUP BY token_key ORDER BY token_key;

-- name: LinkTokenSamples :many
-- The newest sealed tokens of each key.
SELECT s.id, s.token_key, s.token_sealed FROM (SELECT DISTINCT token_key FROM access_links) AS k
CROSS JOIN LATERAL (SELECT a.id, a.token_key, a.token_sealed FROM access_links AS a
    WHERE a.token_key = k.token_key AND a.token_sealed IS NOT NULL ORDER BY a.id DESC LIMIT sqlc.arg(row_limit)) AS s;

-- name: SealedMessages :many
SELECT id, body_sealed FROM webhook_deliveries WHERE id > sqlc.arg(after) ORDER BY id LIMIT sqlc.arg(row_limit);

-- Everything else that is sealed under a token key, which is little: with the purpose and the context that belong to each.
-- name: SealedSecrets :many
SELECT 'webhook_secrets.sealed'::text AS place, 'webhook secrets'::text AS purpose, sealed::bytea AS sealed, uuid_send(endpoint_id)::bytea AS context
FROM webhook_secrets WHERE sealed IS NOT NULL
UNION ALL
SELECT 'webhook_endpoints.url_sealed', 'webhook addresses', url_sealed, uuid_send(id) FROM webhook_endpoints WHERE url_sealed IS NOT NULL
UNION ALL
SELECT 'idempotency_keys.sealed', 'answers', sealed, uuid_send(claim) FROM idempotency_keys WHERE sealed IS NOT NULL
UNION ALL
SELECT 'openid_requests.secrets_sealed', 'openid requests', secrets_sealed, state_hash FROM openid_requests
UNION ALL
SELECT 'ip_salts.sealed', 'salts of the address hash', sealed, convert_to(to_char(day, 'YYYY-MM-DD'), 'UTF8') FROM ip_salts
UNION ALL
SELECT 'river_job: mails', 'mails', decode(args->>'sealed', 'base64'), uuid_send((args->>'id')::uuid) FROM river_job WHERE kind = 'sealed_mail'
UNION ALL
SELECT 'river_job: erasures that are repeated', 'addresses of erased people', decode(args->>'keys_sealed', 'base64'), uuid_send((args->>'erasure_id')::uuid)
FROM river_job WHERE kind = 'erase_again';
