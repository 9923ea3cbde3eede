-- Webhooks: where an account wants to be told of what happens, and what it is told.

-- +goose Up
CREATE TABLE webhook_endpoints (
    id              uuid PRIMARY KEY,
    account_id      uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
    url             text NOT NULL,
    description     text,
    kinds           text[] NOT NULL CHECK (cardinality(kinds) > 0),
    is_active       boolean NOT NULL DEFAULT true,
    disabled_reason text,
    disabled_at     timestamptz(3),
    failing_since   timestamptz(3),             -- of the first failed attempt since the last success
    failures        integer NOT NULL DEFAULT 0, -- failed attempts since the last success
    revision        bigint NOT NULL DEFAULT 1,
    created_at      timestamptz(3) NOT NULL DEFAULT now(),
    updated_at      timestamptz(3) NOT NULL DEFAULT now(),
    UNIQUE (account_id, id)
);
CREATE INDEX webhook_endpoints_newest ON webhook_endpoints (account_id, created_at DESC, id DESC);

-- What the deliveries of an endpoint are signed with: the newest secret, and those before it until
-- they expire. They are needed as they are, so they are stored as they are; the role of requests can
-- write them, and not read them.
CREATE TABLE webhook_secrets (
    id          uuid PRIMARY KEY,
    account_id  uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    secret      bytea NOT NULL CHECK (octet_length(secret) BETWEEN 24 AND 64),
    created_at  timestamptz(3) NOT NULL DEFAULT now(),
    expires_at  timestamptz(3),                 -- null: the present one
    FOREIGN KEY (account_id, endpoint_id) REFERENCES webhook_endpoints (account_id, id) ON DELETE CASCADE
);
CREATE INDEX webhook_secrets_endpoint ON webhook_secrets (endpoint_id, created_at DESC);

-- One message to one endpoint, written in the transaction of what it tells of. It is the outbox as
-- long as it is pending, and the log afterwards.
CREATE TABLE webhook_deliveries (
    id              uuid PRIMARY KEY,
    account_id      uuid NOT NULL,
    endpoint_id     uuid NOT NULL,
    event_id        uuid NOT NULL,              -- the same for every endpoint that is told of one event
    kind            text NOT NULL,
    body            text NOT NULL,              -- what is sent and signed, to the byte
    state           text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed')),
    reason          text,                       -- why it failed
    tries           integer NOT NULL DEFAULT 0, -- attempts since it was made or replayed
    next_attempt_at timestamptz(3) DEFAULT now() CHECK ((next_attempt_at IS NULL) = (state <> 'pending')),
    claim           uuid,                       -- of the attempt that is being made
    claimed_until   timestamptz(3),             -- when whoever makes it must be dead
    attempts        jsonb NOT NULL DEFAULT '[]',-- the last ones, the oldest first
    created_at      timestamptz(3) NOT NULL DEFAULT now(),
    settled_at      timestamptz(3),
    FOREIGN KEY (account_id, endpoint_id) REFERENCES webhook_endpoints (account_id, id) ON DELETE CASCADE
);
CREATE INDEX webhook_deliveries_newest ON webhook_deliveries (account_id, endpoint_id, created_at DESC, id DESC);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, next_attempt_at) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_claimed ON webhook_deliveries (endpoint_id) WHERE claim IS NOT NULL;
CREATE INDEX webhook_deliveries_settled ON webhook_deliveries (settled_at) WHERE settled_at IS NOT NULL;

-- +goose StatementBegin
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['webhook_endpoints', 'webhook_secrets', 'webhook_deliveries']
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY account ON %I TO lodestone_account
            USING (account_id = current_setting(''lodestone.account_id'')::uuid)
            WITH CHECK (account_id = current_setting(''lodestone.account_id'')::uuid)', name);
    END LOOP;
END
$$;
-- +goose StatementEnd
GRANT SELECT, INSERT, UPDATE, DELETE ON webhook_endpoints TO lodestone_account;
GRANT SELECT (id, account_id, endpoint_id, created_at, expires_at), INSERT, UPDATE (expires_at), DELETE
    ON webhook_secrets TO lodestone_account;
GRANT SELECT, INSERT, UPDATE ON webhook_deliveries TO lodestone_account;

-- +goose Down
DROP TABLE webhook_deliveries, webhook_secrets, webhook_endpoints;
