-- +goose Up

-- Passkeys of people: WebAuthn credentials, by which a person signs in without a mail. They are of the person, not of an account.
CREATE TABLE passkeys (
    id            uuid PRIMARY KEY,
    user_id       uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    credential_id bytea NOT NULL CONSTRAINT passkeys_credential UNIQUE,
    credential    jsonb NOT NULL, -- the record of go-webauthn: public key, flags, signature counter
    name          text NOT NULL,
    created_at    timestamptz(3) NOT NULL DEFAULT now(),
    last_used_at  timestamptz(3)
);
CREATE INDEX passkeys_user ON passkeys (user_id);

-- A challenge for an authenticator. It is deleted when the answer comes, whatever comes of it.
CREATE TABLE passkey_challenges (
    challenge_hash bytea PRIMARY KEY, -- SHA-256 of the challenge
    holder_hash    bytea NOT NULL,    -- SHA-256 of the cookie of the browser that signs in, or of the id of the session that adds a passkey
    ceremony       jsonb NOT NULL,    -- what go-webauthn checks the answer against
    expires_at     timestamptz(3) NOT NULL
);
CREATE INDEX passkey_challenges_oldest ON passkey_challenges (expires_at);

-- A passkey that was removed does not sign in again after a restore.
CREATE TRIGGER note_revoked_deleted AFTER DELETE ON passkeys
    REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION note_revoked_deleted();

ALTER TABLE user_sessions DROP CONSTRAINT user_sessions_method_check,
    ADD CONSTRAINT user_sessions_method_check CHECK (method IN ('mail', 'key', 'link', 'invitation', 'openid', 'passkey')) NOT VALID;
