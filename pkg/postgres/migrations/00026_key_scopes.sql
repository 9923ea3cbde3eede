-- Keys that expire, and finer scopes: leads (personal data), webhooks and keys beside read and write.

-- +goose Up
ALTER TABLE api_keys ADD COLUMN expires_at timestamptz(3);        -- null: never
GRANT SELECT (expires_at) ON api_keys TO lodestone_account;

-- Every key goes on allowing what it allowed: reading included personal data, and writing included keys and webhooks.
UPDATE api_keys SET scopes = scopes || '{leads}' WHERE 'read' = ANY (scopes);
UPDATE api_keys SET scopes = scopes || '{webhooks,keys}' WHERE 'write' = ANY (scopes);

-- Revoking a key revokes the keys that were made with it.
CREATE INDEX api_keys_created_by ON api_keys (created_by) WHERE created_by IS NOT NULL;

-- +goose Down
DROP INDEX api_keys_created_by;
UPDATE api_keys SET scopes = array_remove(array_remove(array_remove(scopes, 'leads'), 'webhooks'), 'keys');
ALTER TABLE api_keys DROP COLUMN expires_at;
