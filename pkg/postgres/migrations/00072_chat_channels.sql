-- Chat channels that get an account's notices, by incoming webhooks.

-- +goose Up
CREATE TABLE chat_channels (
    id              uuid PRIMARY KEY,
    account_id      uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
    kind            text NOT NULL CHECK (kind IN ('slack', 'teams', 'discord')),
    name            text NOT NULL,
    about           text[] NOT NULL,           -- leads, readers, weekly, webhooks
    url_sealed      bytea NOT NULL,            -- a secret: whoever has it can post
    url_hint        text NOT NULL,             -- host, and the last characters
    is_active       boolean NOT NULL DEFAULT true,
    disabled_reason text,                      -- why it was disabled by itself
    last_sent_at    timestamptz(3),
    last_failed_at  timestamptz(3),
    last_error      text,                      -- of the last attempt, if that failed
    created_at      timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX chat_channels_account ON chat_channels (account_id, created_at DESC, id DESC);
ALTER TABLE chat_channels ENABLE ROW LEVEL SECURITY;
CREATE POLICY account ON chat_channels TO lodestone_account
    USING (account_id = current_setting('lodestone.account_id')::uuid)
    WITH CHECK (account_id = current_setting('lodestone.account_id')::uuid);
GRANT SELECT, INSERT, UPDATE, DELETE ON chat_channels TO lodestone_account;

-- +goose Down
DROP TABLE chat_channels;
