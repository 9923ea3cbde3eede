-- What the API keeps about requests.

-- +goose Up
-- The present window of each rate limit. A subject has one row, which its next window takes over, so
-- there is nothing to clean up; the free space of the pages keeps each update within its page and out
-- of the index. Unlogged: an update costs no write-ahead log and no sync, and a crash of Postgres
-- forgets a minute's counts, no more.
CREATE UNLOGGED TABLE rate_limits (
    policy  text COLLATE "C" NOT NULL,
    subject uuid NOT NULL,                    -- the key or the account that is counted
    started timestamptz NOT NULL,
    used    integer NOT NULL,
    PRIMARY KEY (policy, subject)
) WITH (fillfactor = 50);

-- Requests with an Idempotency-Key. A row is made before the operation runs (the claim); the
-- transaction of its effect sets took_effect; the answer comes last. Who finds a claim that was
-- given up therefore knows whether there was an effect.
CREATE TABLE idempotency_keys (
    account_id  uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
    operation   text COLLATE "C" NOT NULL,
    key         text COLLATE "C" NOT NULL,
    request     bytea NOT NULL,               -- SHA-256 of path, query and body
    claim       uuid NOT NULL,                -- of the request that runs, or ran, the operation
    claimed_at  timestamptz NOT NULL,
    given_up_at timestamptz NOT NULL,         -- when the claim holds no longer
    took_effect boolean NOT NULL DEFAULT false,
    answered_at timestamptz,                  -- null: there is no answer to replay
    status      integer,
    header      jsonb,
    body        bytea,                        -- null: the answer is not kept, because it holds a secret
    PRIMARY KEY (account_id, operation, key)
);
CREATE INDEX idempotency_keys_oldest ON idempotency_keys (claimed_at);
ALTER TABLE idempotency_keys ENABLE ROW LEVEL SECURITY;
CREATE POLICY account ON idempotency_keys TO lodestone_account
    USING (account_id = current_setting('lodestone.account_id')::uuid)
    WITH CHECK (account_id = current_setting('lodestone.account_id')::uuid);
-- An operation has nothing to do with the answers to others.
GRANT SELECT (account_id, operation, key, claimed_at) ON idempotency_keys TO lodestone_account;

-- +goose Down
DROP TABLE idempotency_keys, rate_limits;
