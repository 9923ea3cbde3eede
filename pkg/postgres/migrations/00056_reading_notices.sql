-- Notices of what readers do: by account, and by landing page.

-- +goose Up
-- Addresses that agreed to other notices get none of these until their account asks for them.
ALTER TABLE accounts ADD COLUMN reading_notices text NOT NULL DEFAULT 'none' CHECK (reading_notices IN ('each', 'daily', 'none'));
ALTER TABLE accounts ALTER COLUMN reading_notices SET DEFAULT 'daily';
GRANT UPDATE (reading_notices) ON accounts TO lodestone_account;
ALTER TABLE generic_links ADD COLUMN reading_notices text CHECK (reading_notices IN ('each', 'daily', 'none')); -- null: the account's

-- People's downloads that the events of a session tell of; set from ClickHouse.
ALTER TABLE sessions ADD COLUMN downloads integer NOT NULL DEFAULT 0;

-- A session with news, once it is over. There is one row a session, so there is one notice.
CREATE TABLE reading_notices (
    session_id     uuid PRIMARY KEY,
    account_id     uuid NOT NULL,
    access_link_id uuid NOT NULL,
    news           text[] NOT NULL,      -- finished, downloaded, returned, opened; the most important first
    send           text NOT NULL CHECK (send IN ('each', 'daily')), -- each that is too much for an hour becomes daily
    recorded_at    timestamptz(3) NOT NULL DEFAULT now(),
    settled_at     timestamptz(3),       -- when its mail was queued, or it turned out that none is wanted; null: it waits
    FOREIGN KEY (account_id, session_id) REFERENCES sessions (account_id, id) ON DELETE CASCADE,
    FOREIGN KEY (account_id, access_link_id) REFERENCES access_links (account_id, id) ON DELETE CASCADE
);
CREATE INDEX reading_notices_waiting ON reading_notices (account_id, recorded_at) WHERE settled_at IS NULL;
CREATE INDEX reading_notices_link ON reading_notices (account_id, access_link_id);

ALTER TABLE reading_notices ENABLE ROW LEVEL SECURITY;
CREATE POLICY account ON reading_notices TO lodestone_account
    USING (account_id = current_setting('lodestone.account_id')::uuid)
    WITH CHECK (account_id = current_setting('lodestone.account_id')::uuid);
GRANT SELECT, UPDATE (send, settled_at) ON reading_notices TO lodestone_account;

-- +goose Down
DROP TABLE reading_notices;
ALTER TABLE sessions DROP COLUMN downloads;
ALTER TABLE generic_links DROP COLUMN reading_notices;
ALTER TABLE accounts DROP COLUMN reading_notices;
