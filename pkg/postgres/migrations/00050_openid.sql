-- Signing in by OpenID Connect.

-- +goose Up
-- An identity is issuer and subject. The address that linked it may change at the provider, and means nothing afterwards.
CREATE TABLE openid_identities (
    issuer     text NOT NULL,
    subject    text NOT NULL,
    user_id    uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    PRIMARY KEY (issuer, subject)
);
CREATE INDEX openid_identities_user ON openid_identities (user_id);

-- One way to the provider and back. It is deleted when the browser comes back, whatever comes of it.
CREATE TABLE openid_requests (
    state_hash      bytea PRIMARY KEY,    -- SHA-256 of the state
    browser_hash    bytea NOT NULL,       -- SHA-256 of the browser's cookie
    secrets_sealed  bytea NOT NULL,       -- the nonce and the code verifier
    next            text NOT NULL,
    expires_at      timestamptz(3) NOT NULL
);
CREATE INDEX openid_requests_oldest ON openid_requests (expires_at);

-- +goose Down
DROP TABLE openid_requests, openid_identities;
