-- pg_dump writes the secrets of webhooks. So they are encrypted under a key that is not in the database (package crud/webhook), as salts are.

-- +goose Up
-- SQL has no keys: a process that delivers seals the rows that exist when it starts. A program of the release before
-- finds no column secret: its messages wait for one of this release, and it makes no secret in clear any more.
ALTER TABLE webhook_secrets RENAME COLUMN secret TO clear;
ALTER TABLE webhook_secrets ALTER COLUMN clear DROP NOT NULL;
ALTER TABLE webhook_secrets ADD COLUMN sealed bytea CHECK (octet_length(sealed) BETWEEN 52 AND 92); -- nonce and tag with it
ALTER TABLE webhook_secrets ADD CONSTRAINT webhook_secrets_one_form CHECK (num_nonnulls(clear, sealed) = 1);

-- +goose Down
-- Sealed secrets cannot be opened here: their webhooks need new ones.
DELETE FROM webhook_secrets WHERE clear IS NULL;
ALTER TABLE webhook_secrets DROP CONSTRAINT webhook_secrets_one_form;
ALTER TABLE webhook_secrets DROP COLUMN sealed;
ALTER TABLE webhook_secrets ALTER COLUMN clear SET NOT NULL;
ALTER TABLE webhook_secrets RENAME COLUMN clear TO secret;
