-- Notices go to an address only after whoever reads it agreed: a tenant can enter any address.

-- +goose Up
ALTER TABLE accounts
    ADD COLUMN notify_confirmed_at timestamptz(3), -- null: not yet, so nothing but the question is sent
    ADD COLUMN notify_asked_at     timestamptz(3); -- when the last mail asked for it; null: none has
GRANT UPDATE (notify_confirmed_at, notify_asked_at) ON accounts TO lodestone_account;
CREATE INDEX accounts_notice_question ON accounts (id) WHERE notify_email IS NOT NULL AND notify_confirmed_at IS NULL AND notify_asked_at IS NULL;

-- +goose Down
DROP INDEX accounts_notice_question;
ALTER TABLE accounts DROP COLUMN notify_confirmed_at, DROP COLUMN notify_asked_at;
