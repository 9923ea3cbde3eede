-- How many events an account has sent in the present month, beside what its plan allows. The consumer's process counts
-- (ingest/quota), collectors refuse what is beyond, and the account reads its own row.

-- +goose Up
CREATE TABLE event_usage (
    account_id  uuid PRIMARY KEY REFERENCES accounts ON DELETE CASCADE,
    month       date NOT NULL,   -- its first day, in UTC
    events      bigint NOT NULL, -- stored in that month
    event_limit bigint           -- what the plan allows; NULL: any number
);
CREATE INDEX event_usage_exceeded ON event_usage (month) WHERE events >= event_limit;
ALTER TABLE event_usage ENABLE ROW LEVEL SECURITY;
CREATE POLICY account ON event_usage TO lodestone_account
    USING (account_id = current_setting('lodestone.account_id')::uuid)
    WITH CHECK (account_id = current_setting('lodestone.account_id')::uuid);
GRANT SELECT ON event_usage TO lodestone_account;

-- When all accounts were counted last, by whichever process did it.
CREATE TABLE event_usage_rounds (
    single  boolean PRIMARY KEY DEFAULT true CHECK (single), -- there is one row
    done_at timestamptz NOT NULL
);

-- +goose Down
DROP TABLE event_usage_rounds, event_usage;
