-- People and accounts whose data was erased. What holds their events (Kafka, spools, ClickHouse) consults the list, and the log outside
-- the databases (--erasure-log) holds the same, so that a restored database can be brought up to it.

-- +goose Up
CREATE TABLE erasures (
    id            uuid PRIMARY KEY,
    account_id    uuid NOT NULL,                                 -- no reference: an erasure outlives the account
    person_id     uuid NOT NULL,                                 -- as person_id() made it: the address is not kept
    erased_at     timestamptz(3) NOT NULL,                       -- when it was asked for: what is stored later is not concerned
    removed       jsonb NOT NULL,                                -- how many rows of each kind Postgres lost
    blanked_at    timestamptz(3),                                -- when no stored event held anything of the person any more
    records_until timestamptz(3)                                 -- when Kafka drops the last record of before; null: not known yet, or never
);
CREATE INDEX erasures_pending ON erasures (erased_at) WHERE blanked_at IS NULL;

-- The access links whose events are blanked, and what ClickHouse has copies of.
CREATE TABLE erased_links (
    id         uuid PRIMARY KEY,                                 -- of an access link or a submission
    account_id uuid NOT NULL,
    erasure_id uuid NOT NULL REFERENCES erasures ON DELETE CASCADE,
    noted_at   timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX erased_links_noted ON erased_links (noted_at);
CREATE INDEX erased_links_erasure ON erased_links (erasure_id);

ALTER TABLE erasures ENABLE ROW LEVEL SECURITY;
ALTER TABLE erased_links ENABLE ROW LEVEL SECURITY;
CREATE POLICY account ON erasures TO lodestone_account
    USING (account_id = current_setting('lodestone.account_id')::uuid)
    WITH CHECK (account_id = current_setting('lodestone.account_id')::uuid);
CREATE POLICY account ON erased_links TO lodestone_account
    USING (account_id = current_setting('lodestone.account_id')::uuid)
    WITH CHECK (account_id = current_setting('lodestone.account_id')::uuid);
GRANT SELECT, INSERT ON erasures, erased_links TO lodestone_account;
GRANT DELETE, UPDATE (args) ON river_job TO lodestone_account; -- mails and messages about the person

-- +goose Down
REVOKE DELETE, UPDATE (args) ON river_job FROM lodestone_account;
DROP TABLE erased_links;
DROP TABLE erasures;
