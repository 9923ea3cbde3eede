-- People: who may sign in to an account's dashboard, as what, and their sessions.

-- +goose Up
CREATE TABLE users (
    id         uuid PRIMARY KEY,
    email      text NOT NULL,             -- as typed first
    email_key  text NOT NULL UNIQUE,
    created_at timestamptz(3) NOT NULL DEFAULT now()
);

CREATE TABLE memberships (
    account_id   uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
    user_id      uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    role         text NOT NULL CHECK (role IN ('owner', 'editor', 'analyst')),
    created_at   timestamptz(3) NOT NULL DEFAULT now(),
    last_seen_at timestamptz(3),
    PRIMARY KEY (account_id, user_id)
);
CREATE INDEX memberships_user ON memberships (user_id);

-- A user of no account is deleted, with everything that is stored about the person.
-- +goose StatementBegin
CREATE FUNCTION delete_user() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM FROM users WHERE id = OLD.user_id FOR UPDATE; -- someone who joins another account at the same time stays
    DELETE FROM users WHERE id = OLD.user_id AND NOT EXISTS (SELECT FROM memberships WHERE user_id = OLD.user_id);
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER delete_user AFTER DELETE ON memberships FOR EACH ROW EXECUTE FUNCTION delete_user();

-- An invitation is for one address. Accepting it deletes it.
CREATE TABLE invitations (
    id          uuid PRIMARY KEY,
    account_id  uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
    email       text NOT NULL,
    email_key   text NOT NULL,
    role        text NOT NULL CHECK (role IN ('owner', 'editor', 'analyst')),
    secret_hash bytea NOT NULL UNIQUE,    -- SHA-256 of the secret in the mail's link
    created_at  timestamptz(3) NOT NULL DEFAULT now(),
    expires_at  timestamptz(3) NOT NULL,
    CONSTRAINT invitations_email UNIQUE (account_id, email_key)
);

-- One try to sign in: of a browser that entered an address, or the link that lodestone up prints. It holds nothing that opens
-- anything: only the browser has its cookie and the page's secret, and only the mailbox has the link and the code.
CREATE TABLE sign_ins (
    id         uuid PRIMARY KEY,
    user_id    uuid REFERENCES users ON DELETE CASCADE, -- null: no user has the address, and no mail was sent
    email      text NOT NULL,             -- as typed
    browser_hash bytea,                   -- SHA-256 of the browser's cookie; null: any browser may use the link
    page_hash  bytea UNIQUE,              -- SHA-256 of the secret in the address of the waiting page
    link_hash  bytea NOT NULL UNIQUE,     -- SHA-256 of the secret in the link
    code_hash  bytea NOT NULL,            -- SHA-256 of the page's secret and the code
    next       text NOT NULL,             -- path of this site
    attempts   integer NOT NULL DEFAULT 0,
    mails      integer NOT NULL DEFAULT 1,
    sent_at    timestamptz(3) NOT NULL DEFAULT now(),
    expires_at timestamptz(3) NOT NULL,
    used_at    timestamptz(3)
);
CREATE INDEX sign_ins_oldest ON sign_ins (expires_at);
CREATE INDEX sign_ins_user ON sign_ins (user_id);

-- Sessions of the dashboard. The cookie holds a secret from which the session's API key is derived; both are stored as hashes.
ALTER TABLE api_keys ADD CONSTRAINT api_keys_of_account UNIQUE (account_id, id);
CREATE TABLE user_sessions (
    id             uuid PRIMARY KEY,
    account_id     uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
    user_id        uuid,                  -- null: signed in by an API key
    key_id         uuid,                  -- the API key, which the session ends with
    method         text NOT NULL CHECK (method IN ('mail', 'key', 'link', 'invitation', 'openid')),
    cookie_hash    bytea NOT NULL UNIQUE,
    key_hash       bytea NOT NULL UNIQUE,
    user_agent     text NOT NULL,
    started_at     timestamptz(3) NOT NULL DEFAULT now(),
    last_active_at timestamptz(3) NOT NULL DEFAULT now(), -- exact to a minute
    ended_at       timestamptz(3),
    kept_form      bytea,                 -- a form that was sent after the end, sealed
    CHECK (num_nonnulls(user_id, key_id) = 1),
    FOREIGN KEY (account_id, user_id) REFERENCES memberships (account_id, user_id) ON DELETE CASCADE,
    FOREIGN KEY (account_id, key_id) REFERENCES api_keys (account_id, id) ON DELETE CASCADE
);
CREATE INDEX user_sessions_user ON user_sessions (account_id, user_id);
CREATE INDEX user_sessions_key ON user_sessions (key_id);
CREATE INDEX user_sessions_oldest ON user_sessions (started_at);

-- When a session ends if nothing more happens: after 12 hours without a page, and after 30 days in any case.
CREATE FUNCTION user_session_end(started_at timestamptz, last_active_at timestamptz, ended_at timestamptz) RETURNS timestamptz
    LANGUAGE sql STABLE
    RETURN coalesce(ended_at, least(started_at + interval '720 hours', last_active_at + interval '12 hours'));

-- +goose StatementBegin
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['memberships', 'invitations', 'user_sessions']
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY account ON %I TO lodestone_account
            USING (account_id = current_setting(''lodestone.account_id'')::uuid)
            WITH CHECK (account_id = current_setting(''lodestone.account_id'')::uuid)', name);
    END LOOP;
END
$$;
-- +goose StatementEnd
-- An account sees the users who are its people.
ALTER TABLE users ENABLE ROW LEVEL SECURITY;
CREATE POLICY account ON users TO lodestone_account
    USING (EXISTS (SELECT FROM memberships m WHERE m.user_id = users.id))
    WITH CHECK (EXISTS (SELECT FROM memberships m WHERE m.user_id = users.id));
GRANT SELECT (id, email, email_key, created_at) ON users TO lodestone_account;
GRANT SELECT, UPDATE (role, last_seen_at), DELETE ON memberships TO lodestone_account;
GRANT SELECT (id, account_id, email, email_key, role, created_at, expires_at), INSERT, UPDATE (email, role, secret_hash, created_at, expires_at), DELETE
    ON invitations TO lodestone_account;
GRANT SELECT (id, account_id, user_id, key_id, method, user_agent, started_at, last_active_at, ended_at), INSERT, UPDATE (ended_at)
    ON user_sessions TO lodestone_account;

-- +goose Down
DROP TABLE user_sessions, sign_ins, invitations, memberships, users;
DROP FUNCTION user_session_end, delete_user;
ALTER TABLE api_keys DROP CONSTRAINT api_keys_of_account;
