-- Reading: the sessions of access links, and the downloads within them.

-- +goose Up
ALTER TABLE access_links ADD CONSTRAINT access_links_of_account UNIQUE (account_id, id);

-- The secret of a link's URL is looked up by its hash: how long a comparison takes then tells nothing
-- about the secrets that exist.
CREATE UNIQUE INDEX access_links_token_hash ON access_links (sha256(token::bytea));

-- One opening of an access link.
CREATE TABLE sessions (
    id             uuid PRIMARY KEY,             -- the session_id of its events
    account_id     uuid NOT NULL,
    access_link_id uuid NOT NULL,
    magnet_version integer NOT NULL,             -- of the file, which stays the same while it is read
    started_at     timestamptz(3) NOT NULL DEFAULT now(),
    last_active_at timestamptz(3) NOT NULL DEFAULT now(),
    ended_at       timestamptz(3),               -- null: it may go on
    UNIQUE (account_id, id),
    FOREIGN KEY (account_id, access_link_id) REFERENCES access_links (account_id, id) ON DELETE CASCADE
);
CREATE INDEX sessions_link ON sessions (account_id, access_link_id, started_at DESC);
CREATE INDEX sessions_open ON sessions (last_active_at) WHERE ended_at IS NULL;

-- One click on download. A download may take several requests, each for a part of the file.
CREATE TABLE downloads (
    id             uuid PRIMARY KEY,
    account_id     uuid NOT NULL,
    session_id     uuid NOT NULL,
    event_id       uuid NOT NULL,                -- of its event download_completed
    served         int8multirange NOT NULL DEFAULT '{}', -- bytes that went out
    started_at     timestamptz(3) NOT NULL DEFAULT now(),
    completed_at   timestamptz(3),               -- when all of them had
    FOREIGN KEY (account_id, session_id) REFERENCES sessions (account_id, id) ON DELETE CASCADE
);
CREATE INDEX downloads_session ON downloads (account_id, session_id);

-- +goose StatementBegin
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['sessions', 'downloads']
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY account ON %I TO lodestone_account
            USING (account_id = current_setting(''lodestone.account_id'')::uuid)
            WITH CHECK (account_id = current_setting(''lodestone.account_id'')::uuid)', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO lodestone_account', name);
    END LOOP;
END
$$;
-- +goose StatementEnd

-- +goose Down
DROP TABLE downloads, sessions;
DROP INDEX access_links_token_hash;
ALTER TABLE access_links DROP CONSTRAINT access_links_of_account;
