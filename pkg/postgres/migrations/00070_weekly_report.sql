-- The weekly report by mail, and the keys with which its job reads the account's reports.

-- +goose Up
-- Addresses that agreed to other notices get none until their account asks for it.
ALTER TABLE accounts ADD COLUMN weekly_report boolean NOT NULL DEFAULT false;
ALTER TABLE accounts ALTER COLUMN weekly_report SET DEFAULT true;
-- The end of the last week that was reported, or left out. The first report is of the first whole week.
ALTER TABLE accounts ADD COLUMN reported_until timestamptz NOT NULL DEFAULT now();
GRANT UPDATE (weekly_report, reported_until) ON accounts TO lodestone_account;

CREATE TABLE report_keys (
    id         uuid PRIMARY KEY,
    account_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
    key_hash   bytea NOT NULL UNIQUE,
    expires_at timestamptz NOT NULL
);
CREATE INDEX report_keys_account ON report_keys (account_id);
ALTER TABLE report_keys ENABLE ROW LEVEL SECURITY;
CREATE POLICY account ON report_keys TO lodestone_account
    USING (account_id = current_setting('lodestone.account_id')::uuid)
    WITH CHECK (account_id = current_setting('lodestone.account_id')::uuid);
GRANT SELECT (id, account_id, expires_at) ON report_keys TO lodestone_account;

-- +goose Down
DROP TABLE report_keys;
ALTER TABLE accounts DROP COLUMN reported_until, DROP COLUMN weekly_report;
