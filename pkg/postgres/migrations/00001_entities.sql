-- The entities of an account. Every table carries account_id, and row-level security lets the role
-- lodestone_account see the rows of one account only: the one named by the setting
-- lodestone.account_id of the transaction (package pkg/postgres, Pool.Account). Foreign keys are
-- checked by the owner of the tables, who sees every row, so references between entities hold the
-- account too: none can lead into another account.

-- +goose Up
-- +goose StatementBegin
DO $$
BEGIN
    CREATE ROLE lodestone_account NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL; -- roles belong to the whole cluster: another database of it may have made this one
END
$$;
-- +goose StatementEnd
-- +goose StatementBegin
DO $$
BEGIN
    -- CREATE ROLE makes its creator a member that may take the role only since PostgreSQL 16, and
    -- there only if so configured; before, being a member was enough.
    IF NOT pg_has_role(current_user, 'lodestone_account',
        CASE WHEN current_setting('server_version_num')::integer >= 160000 THEN 'SET' ELSE 'MEMBER' END)
    THEN
        EXECUTE format('GRANT lodestone_account TO %I', current_user);
    END IF;
EXCEPTION WHEN unique_violation OR internal_error THEN
    NULL; -- the migration of another database of the cluster granted it just now
END
$$;
-- +goose StatementEnd

CREATE TABLE accounts (
    id         uuid PRIMARY KEY,
    name       text NOT NULL,
    plan       text NOT NULL CHECK (plan IN ('free', 'pro', 'team')),
    created_at timestamptz(3) NOT NULL DEFAULT now()
);

CREATE TABLE api_keys (
    id           uuid PRIMARY KEY,
    account_id   uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
    name         text NOT NULL,
    prefix       text NOT NULL,               -- the first characters, to recognise a key by
    hash         bytea NOT NULL UNIQUE,       -- SHA-256 of the whole key
    scopes       text[] NOT NULL,
    created_at   timestamptz(3) NOT NULL DEFAULT now(),
    last_used_at timestamptz(3),
    revoked_at   timestamptz(3)
);
CREATE INDEX api_keys_account ON api_keys (account_id);

CREATE TABLE lead_magnets (
    id           uuid PRIMARY KEY,
    account_id   uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
    title        text NOT NULL,
    description  text,
    is_active    boolean NOT NULL DEFAULT true,
    file_version integer NOT NULL DEFAULT 0,  -- 0: no file yet; each upload adds one
    created_at   timestamptz(3) NOT NULL DEFAULT now(),
    updated_at   timestamptz(3) NOT NULL DEFAULT now(),
    UNIQUE (account_id, id)
);
CREATE INDEX lead_magnets_newest ON lead_magnets (account_id, created_at DESC, id DESC);

CREATE TABLE lead_magnet_files (
    lead_magnet_id uuid NOT NULL,
    version        integer NOT NULL,          -- from 1
    account_id     uuid NOT NULL,
    file_name      text NOT NULL,
    content_type   text NOT NULL,
    file_size      bigint NOT NULL,           -- bytes
    page_count     integer NOT NULL,
    sha256         bytea NOT NULL,
    created_at     timestamptz(3) NOT NULL DEFAULT now(),
    PRIMARY KEY (lead_magnet_id, version),
    UNIQUE (account_id, lead_magnet_id, version),
    FOREIGN KEY (account_id, lead_magnet_id) REFERENCES lead_magnets (account_id, id) ON DELETE CASCADE
);

-- The bytes of a file, in chunks of 1 MiB (the last one is shorter), so that a range of it is read
-- without the rest.
CREATE TABLE lead_magnet_file_chunks (
    lead_magnet_id uuid NOT NULL,
    version        integer NOT NULL,
    number         integer NOT NULL,          -- from 0
    account_id     uuid NOT NULL,
    bytes          bytea NOT NULL,
    PRIMARY KEY (lead_magnet_id, version, number),
    FOREIGN KEY (account_id, lead_magnet_id, version)
        REFERENCES lead_magnet_files (account_id, lead_magnet_id, version) ON DELETE CASCADE
);
ALTER TABLE lead_magnet_file_chunks ALTER COLUMN bytes SET STORAGE EXTERNAL; -- PDFs are compressed already

CREATE TABLE generic_links (
    id                   uuid PRIMARY KEY,
    account_id           uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
    lead_magnet_id       uuid NOT NULL,
    slug                 text NOT NULL CONSTRAINT generic_links_slug UNIQUE,
    title                text,
    description          text,
    thumbnail_url        text,
    collect_name         boolean NOT NULL DEFAULT false,
    require_verification boolean NOT NULL DEFAULT false,
    active               boolean NOT NULL DEFAULT true,
    submission_count     bigint NOT NULL DEFAULT 0,
    view_count           bigint NOT NULL DEFAULT 0, -- set from ClickHouse
    created_at           timestamptz(3) NOT NULL DEFAULT now(),
    updated_at           timestamptz(3) NOT NULL DEFAULT now(),
    UNIQUE (account_id, id),
    FOREIGN KEY (account_id, lead_magnet_id) REFERENCES lead_magnets (account_id, id)
);
CREATE INDEX generic_links_newest ON generic_links (account_id, created_at DESC, id DESC);
CREATE INDEX generic_links_magnet ON generic_links (account_id, lead_magnet_id, created_at DESC, id DESC);

CREATE TABLE submissions (
    id              uuid PRIMARY KEY,
    account_id      uuid NOT NULL,
    generic_link_id uuid NOT NULL,
    email           text NOT NULL,            -- as typed
    email_key       text NOT NULL,            -- in lower case: what is compared
    name            text,
    verified        boolean NOT NULL DEFAULT false,
    viewed          boolean NOT NULL DEFAULT false,
    view_count      bigint NOT NULL DEFAULT 0,
    submitted_at    timestamptz(3) NOT NULL DEFAULT now(),
    first_viewed_at timestamptz(3),
    last_viewed_at  timestamptz(3),
    UNIQUE (account_id, id),
    CONSTRAINT submissions_email UNIQUE (generic_link_id, email_key),
    FOREIGN KEY (account_id, generic_link_id) REFERENCES generic_links (account_id, id) ON DELETE CASCADE
);
CREATE INDEX submissions_newest ON submissions (generic_link_id, submitted_at DESC, id DESC);

CREATE TABLE access_links (
    id              uuid PRIMARY KEY,
    account_id      uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
    lead_magnet_id  uuid NOT NULL,
    generic_link_id uuid,
    submission_id   uuid,
    email           text NOT NULL,
    email_key       text NOT NULL,
    token           text NOT NULL UNIQUE,     -- the secret part of the link's URL
    max_views       integer CHECK (max_views BETWEEN 1 AND 10000),
    opened_count    integer NOT NULL DEFAULT 0, -- openings, counted when a session starts; enforces max_views
    view_count      bigint NOT NULL DEFAULT 0,  -- set from ClickHouse, like the next three
    viewed          boolean NOT NULL DEFAULT false,
    first_viewed_at timestamptz(3),
    last_viewed_at  timestamptz(3),
    expires_at      timestamptz(3),
    is_active       boolean NOT NULL DEFAULT true,
    created_at      timestamptz(3) NOT NULL DEFAULT now(),
    updated_at      timestamptz(3) NOT NULL DEFAULT now(),
    FOREIGN KEY (account_id, lead_magnet_id) REFERENCES lead_magnets (account_id, id),
    FOREIGN KEY (account_id, generic_link_id) REFERENCES generic_links (account_id, id)
        ON DELETE SET NULL (generic_link_id),
    FOREIGN KEY (account_id, submission_id) REFERENCES submissions (account_id, id)
        ON DELETE SET NULL (submission_id)
);
CREATE INDEX access_links_newest ON access_links (account_id, created_at DESC, id DESC);
CREATE INDEX access_links_magnet ON access_links (account_id, lead_magnet_id, created_at DESC, id DESC);
CREATE INDEX access_links_email ON access_links (account_id, email_key, created_at DESC, id DESC);
CREATE INDEX access_links_generic ON access_links (generic_link_id);
CREATE INDEX access_links_submission ON access_links (submission_id);

-- What the role may do with the rows that it sees. A plan is not changed, nor a key read out, by
-- who only has a key; locking a row takes the right to update one of its columns.
-- +goose StatementBegin
DO $$
DECLARE
    name text;
    owner text;
BEGIN
    FOREACH name IN ARRAY ARRAY['accounts', 'api_keys', 'lead_magnets', 'lead_magnet_files',
        'lead_magnet_file_chunks', 'generic_links', 'submissions', 'access_links']
    LOOP
        owner := CASE name WHEN 'accounts' THEN 'id' ELSE 'account_id' END;
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY account ON %I TO lodestone_account
            USING (%I = current_setting(''lodestone.account_id'')::uuid)
            WITH CHECK (%I = current_setting(''lodestone.account_id'')::uuid)', name, owner, owner);
        CASE name
            WHEN 'accounts' THEN
                GRANT SELECT, UPDATE (name) ON accounts TO lodestone_account;
            WHEN 'api_keys' THEN
                GRANT SELECT (id, account_id, name, prefix, scopes, created_at, last_used_at, revoked_at),
                    INSERT, UPDATE (name, revoked_at) ON api_keys TO lodestone_account;
            ELSE
                EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO lodestone_account', name);
        END CASE;
    END LOOP;
END
$$;
-- +goose StatementEnd

-- +goose Down
DROP TABLE access_links, submissions, generic_links, lead_magnet_file_chunks, lead_magnet_files,
    lead_magnets, api_keys, accounts;
