-- A flood of submissions becomes no flood of mails.

-- +goose Up
ALTER TABLE accounts
    ADD COLUMN notices_since timestamptz NOT NULL DEFAULT 'epoch', -- when the present hour of notices began
    ADD COLUMN notices_sent  integer NOT NULL DEFAULT 0;               -- within it
GRANT UPDATE (notices_since, notices_sent) ON accounts TO lodestone_account;

-- +goose Down
ALTER TABLE accounts DROP COLUMN notices_since, DROP COLUMN notices_sent;
