-- Links that show the statistics of one lead magnet to whoever has them.

-- +goose Up
CREATE TABLE shares (
    id             uuid PRIMARY KEY,
    account_id     uuid NOT NULL,
    lead_magnet_id uuid NOT NULL,
    name           text,
    token_hash     bytea NOT NULL UNIQUE, -- SHA-256 of the token in the URL
    key_hash       bytea NOT NULL UNIQUE, -- SHA-256 of the key that the page asks the API with: it is derived from the token and a secret of the server
    password_hash  text,                  -- argon2id; null: no password is asked for
    has_password   boolean NOT NULL GENERATED ALWAYS AS (password_hash IS NOT NULL) STORED,
    expires_at     timestamptz(3),
    view_count     bigint NOT NULL DEFAULT 0,
    last_viewed_at timestamptz(3),
    created_at     timestamptz(3) NOT NULL DEFAULT now(),
    FOREIGN KEY (account_id, lead_magnet_id) REFERENCES lead_magnets (account_id, id) ON DELETE CASCADE
);
CREATE INDEX shares_newest ON shares (account_id, lead_magnet_id, created_at DESC, id DESC);

ALTER TABLE shares ENABLE ROW LEVEL SECURITY;
CREATE POLICY account ON shares TO lodestone_account
    USING (account_id = current_setting('lodestone.account_id')::uuid)
    WITH CHECK (account_id = current_setting('lodestone.account_id')::uuid);
GRANT SELECT (id, account_id, lead_magnet_id, name, has_password, expires_at, view_count, last_viewed_at, created_at), INSERT, DELETE ON shares TO lodestone_account;

-- +goose Down
DROP TABLE shares;
