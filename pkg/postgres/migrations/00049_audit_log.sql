-- What people and keys did to an account: who, what, which object, when. The role of accounts adds rows and reads them, and can neither
-- change nor delete them.

-- +goose Up
CREATE TABLE audit_log (
    id         uuid PRIMARY KEY,
    account_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
    at         timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
    action     text NOT NULL,             -- id of the API's operation, or one of signing in
    object_id  uuid,                      -- what it was done to; null: the account, or several objects
    actor      text NOT NULL,             -- address of the person or name of the key, as it was then
    user_id    uuid,
    session_id uuid,
    key_id     uuid,
    request_id text NOT NULL
);
CREATE INDEX audit_log_newest ON audit_log (account_id, id DESC);

ALTER TABLE audit_log ENABLE ROW LEVEL SECURITY;
CREATE POLICY account ON audit_log TO lodestone_account
    USING (account_id = current_setting('lodestone.account_id')::uuid)
    WITH CHECK (account_id = current_setting('lodestone.account_id')::uuid);
GRANT SELECT, INSERT ON audit_log TO lodestone_account;

-- +goose Down
DROP TABLE audit_log;
