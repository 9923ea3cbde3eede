-- What was revoked, until it is on record outside the databases (crud.Revocations).

-- name: SomeRevocations :many
SELECT number, entity, id, account, deleted, revoked_at FROM revocations ORDER BY number LIMIT sqlc.arg(row_limit)::bigint;

-- name: RemoveRevocations :exec
DELETE FROM revocations WHERE number = ANY (sqlc.arg(numbers)::bigint[]);

-- name: NewestRevocation :one
-- The newest entry of the record that this database knows.
SELECT newest FROM revocation_log;

-- name: SetNewestRevocation :exec
UPDATE revocation_log SET newest = sqlc.arg(newest)::text WHERE newest < sqlc.arg(newest)::text;

-- name: RevocationLag :one
SELECT coalesce(extract(epoch FROM clock_timestamp() - (SELECT revoked_at FROM revocations ORDER BY number LIMIT 1)), 0)::float8;

-- name: RevokeAccessLinks :exec
UPDATE access_links SET is_active = false, revision = revision + 1, updated_at = clock_timestamp() WHERE id = ANY (sqlc.arg(ids)::uuid[]) AND is_active;

-- name: RevokeLeadMagnets :exec
UPDATE lead_magnets SET is_active = false, revision = revision + 1, updated_at = clock_timestamp() WHERE id = ANY (sqlc.arg(ids)::uuid[]) AND is_active;

-- name: RevokeGenericLinks :exec
UPDATE generic_links SET active = false, revision = revision + 1, updated_at = clock_timestamp() WHERE id = ANY (sqlc.arg(ids)::uuid[]) AND active;

-- name: RevokeWebhooks :exec
UPDATE webhook_endpoints SET is_active = false, disabled_at = clock_timestamp(), disabled_reason = sqlc.arg(reason)::text, revision = revision + 1, updated_at = clock_timestamp()
WHERE id = ANY (sqlc.arg(ids)::uuid[]) AND is_active;

-- name: RevokeKeys :exec
UPDATE api_keys SET revoked_at = clock_timestamp() WHERE id = ANY (sqlc.arg(ids)::uuid[]) AND revoked_at IS NULL;

-- name: DeleteRevokedAccessLinks :exec
DELETE FROM access_links WHERE id = ANY (sqlc.arg(ids)::uuid[]);

-- name: DeleteAccessLinksOfRevoked :exec
-- A lead magnet is deleted after its links, whose deletion may be in a later entry of the record, or in one that was never written.
DELETE FROM access_links a USING lead_magnets m
WHERE m.id = ANY (sqlc.arg(ids)::uuid[]) AND a.account_id = m.account_id AND a.lead_magnet_id = m.id;

-- name: DeleteGenericLinksOfRevoked :exec
DELETE FROM generic_links g USING lead_magnets m
WHERE m.id = ANY (sqlc.arg(ids)::uuid[]) AND g.account_id = m.account_id AND g.lead_magnet_id = m.id;

-- name: DeleteRevokedLeadMagnets :exec
DELETE FROM lead_magnets WHERE id = ANY (sqlc.arg(ids)::uuid[]);

-- name: DeleteRevokedGenericLinks :exec
DELETE FROM generic_links WHERE id = ANY (sqlc.arg(ids)::uuid[]);

-- name: DeleteRevokedWebhooks :exec
DELETE FROM webhook_endpoints WHERE id = ANY (sqlc.arg(ids)::uuid[]);

-- name: DeleteRevokedShares :exec
DELETE FROM shares WHERE id = ANY (sqlc.arg(ids)::uuid[]);

-- name: DeleteRevokedMemberships :exec
-- The arrays are parallel.
DELETE FROM memberships WHERE (user_id, account_id) IN (SELECT unnest(sqlc.arg(ids)::uuid[]), unnest(sqlc.arg(accounts)::uuid[]));

-- name: DeleteRevokedInvitations :exec
DELETE FROM invitations WHERE id = ANY (sqlc.arg(ids)::uuid[]);

-- name: DeleteRevokedPasskeys :exec
DELETE FROM passkeys WHERE id = ANY (sqlc.arg(ids)::uuid[]);

-- name: EndUserSessions :exec
-- Which of them were ended since the backup is not known: people sign in again.
UPDATE user_sessions SET ended_at = clock_timestamp() WHERE ended_at IS NULL;
