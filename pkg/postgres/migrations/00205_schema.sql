-- The schema of Postgres. What a release changes of it gets a migration of its own behind this one, whose number is above those of checkouts
-- before the first release.
--
-- Every table of an account carries account_id, and row-level security lets the role lodestone_account see the rows of one account only: the
-- one named by the setting lodestone.account_id of the transaction (package pkg/postgres, Pool.Account; access.sql has the policies and the
-- rights). Foreign keys are checked by the owner of the tables, who sees every row, so references between entities hold the account too: none
-- can lead into another account.

-- +goose Up

-- The entities of an account. Every table carries account_id, and row-level security lets the role
-- lodestone_account see the rows of one account only: the one named by the setting
-- lodestone.account_id of the transaction (package pkg/postgres, Pool.Account). Foreign keys are
-- checked by the owner of the tables, who sees every row, so references between entities hold the
-- account too: none can lead into another account.
CREATE TABLE accounts (
    id                  uuid PRIMARY KEY,
    name                text NOT NULL,
    plan                text NOT NULL CHECK (plan IN ('free', 'pro', 'team')),
    created_at          timestamptz(3) NOT NULL DEFAULT now(),
    -- How an account's pages look, and who is told of new leads.
    brand_color         text CHECK (brand_color ~ '^#[0-9a-f]{6}$'),
    notify              text NOT NULL DEFAULT 'each' CHECK (notify IN ('each', 'daily', 'none')),
    notify_email        text,                                         -- null: nobody is told
    -- Up to when an account's daily mails told of its leads. Setting it in the transaction that sends a mail
    -- makes that mail the only one of its day.
    digest_until        timestamptz NOT NULL DEFAULT now(),
    notices_since       timestamptz NOT NULL DEFAULT 'epoch',         -- when the present hour of notices began
    notices_sent        integer NOT NULL DEFAULT 0,                   -- within it
    notify_confirmed_at timestamptz(3),                               -- null: not yet, so nothing but the question is sent
    language            text CHECK (language IN ('en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'pl')), -- null: the visitor's own
    timezone            text NOT NULL DEFAULT 'UTC',                  -- IANA name
    brand_font          text NOT NULL DEFAULT 'system' CHECK (brand_font IN ('system', 'inter')),
    -- Addresses that agreed to other notices get none of these until their account asks for them.
    reading_notices     text NOT NULL DEFAULT 'daily' CHECK (reading_notices IN ('each', 'daily', 'none')),
    -- Addresses that agreed to other notices get none until their account asks for it.
    weekly_report       boolean NOT NULL DEFAULT true,
    -- The end of the last week that was reported, or left out. The first report is of the first whole week.
    reported_until      timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX accounts_digest ON accounts (digest_until) WHERE notify = 'daily' AND notify_email IS NOT NULL;

CREATE TABLE api_keys (
    id           uuid PRIMARY KEY,
    account_id   uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
    name         text NOT NULL,
    prefix       text NOT NULL,         -- the first characters, to recognise a key by
    hash         bytea NOT NULL UNIQUE, -- SHA-256 of the whole key
    scopes       text[] NOT NULL,
    created_at   timestamptz(3) NOT NULL DEFAULT now(),
    last_used_at timestamptz(3),
    revoked_at   timestamptz(3),
    -- Which key made a key, so that after a leak one can see what else has to go. It has no foreign
    -- key: keys are revoked, and never deleted while their account lives.
    created_by   uuid,
    expires_at   timestamptz(3),        -- null: never
    -- Sessions of the dashboard. The cookie holds a secret from which the session's API key is derived; both are stored as hashes.
    CONSTRAINT api_keys_of_account UNIQUE (account_id, id)
) WITH (fillfactor = 80);
CREATE INDEX api_keys_account ON api_keys (account_id);
-- Revoking a key revokes the keys that were made with it.
CREATE INDEX api_keys_created_by ON api_keys (created_by) WHERE created_by IS NOT NULL;

CREATE TABLE lead_magnets (
    id           uuid PRIMARY KEY,
    account_id   uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
    title        text NOT NULL,
    description  text,
    is_active    boolean NOT NULL DEFAULT true,
    file_version integer NOT NULL DEFAULT 0, -- 0: no file yet; each upload adds one
    created_at   timestamptz(3) NOT NULL DEFAULT now(),
    updated_at   timestamptz(3) NOT NULL DEFAULT now(),
    -- The revision counts the changes that were asked for, and is what If-Match compares. Counters that
    -- are set meanwhile do not raise it.
    revision     bigint NOT NULL DEFAULT 1,
    author       text,
    author_about text,
    end_text     text,                       -- what the reader shows behind the last page
    end_button   text,
    end_url      text,
    downloadable boolean NOT NULL DEFAULT true,
    UNIQUE (account_id, id),
    CHECK ((end_button IS NULL) = (end_url IS NULL))
);
CREATE INDEX lead_magnets_newest ON lead_magnets (account_id, created_at DESC, id DESC);

-- Files of documents may be stored as objects of an S3-compatible store instead of as chunks. An object is on record before it is
-- written, so one that no file uses is found and removed.
CREATE TABLE file_objects (
    id         uuid PRIMARY KEY,
    account_id uuid NOT NULL, -- no reference: the object is removed after the account
    created_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX file_objects_oldest ON file_objects (created_at, id);

CREATE TABLE lead_magnet_files (
    lead_magnet_id  uuid NOT NULL,
    version         integer NOT NULL,             -- from 1
    account_id      uuid NOT NULL,
    file_name       text NOT NULL,
    content_type    text NOT NULL,
    file_size       bigint NOT NULL,              -- bytes
    page_count      integer NOT NULL,
    sha256          bytea NOT NULL,
    created_at      timestamptz(3) NOT NULL DEFAULT now(),
    discarded_at    timestamptz(3),
    -- The table of contents: an array of objects with level, title and page. Null: the file has none.
    outline         jsonb,
    object_id       uuid REFERENCES file_objects, -- null: the chunks hold the file
    unreadable_page integer,
    PRIMARY KEY (lead_magnet_id, version),
    UNIQUE (account_id, lead_magnet_id, version),
    FOREIGN KEY (account_id, lead_magnet_id) REFERENCES lead_magnets (account_id, id) ON DELETE CASCADE
);
CREATE INDEX lead_magnet_files_stored ON lead_magnet_files (account_id) INCLUDE (file_size) WHERE discarded_at IS NULL;
CREATE UNIQUE INDEX lead_magnet_files_object ON lead_magnet_files (object_id) WHERE object_id IS NOT NULL;

-- The bytes of a file, in chunks of 1 MiB (the last one is shorter), so that a range of it is read
-- without the rest.
CREATE TABLE lead_magnet_file_chunks (
    lead_magnet_id uuid NOT NULL,
    version        integer NOT NULL,
    number         integer NOT NULL, -- from 0
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
    created_at           timestamptz(3) NOT NULL DEFAULT now(),
    updated_at           timestamptz(3) NOT NULL DEFAULT now(),
    revision             bigint NOT NULL DEFAULT 1,
    button_text          text,                                        -- null: words that say what happens
    consent_text         text,                                        -- what a visitor has to agree to
    privacy_url          text,
    redirect_url         text,                                        -- where the form leads; null: to the document
    -- Path of the uploaded picture that stands where thumbnail_url would: at most one of the two is set.
    thumbnail_picture    text,
    language             text CHECK (language IN ('en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'pl')), -- null: the account's
    show_contents        boolean NOT NULL DEFAULT true,               -- the document's table of contents
    show_pages           boolean NOT NULL DEFAULT true,               -- pictures of inside pages, blurred
    show_readers         boolean NOT NULL DEFAULT false,              -- how many people read the document
    allowed_origins      text[] NOT NULL DEFAULT '{}',
    reading_notices      text CHECK (reading_notices IN ('each', 'daily', 'none')), -- null: the account's
    expires_at           timestamptz(3),                              -- null: never
    access_days          integer CHECK (access_days BETWEEN 1 AND 3650), -- that links given by the form work; null: for ever
    UNIQUE (account_id, id),
    FOREIGN KEY (account_id, lead_magnet_id) REFERENCES lead_magnets (account_id, id),
    CHECK (num_nonnulls(thumbnail_url, thumbnail_picture) <= 1)
) WITH (fillfactor = 80);
CREATE INDEX generic_links_newest ON generic_links (account_id, created_at DESC, id DESC);
CREATE INDEX generic_links_magnet ON generic_links (account_id, lead_magnet_id, created_at DESC, id DESC);

CREATE TABLE submissions (
    id                    uuid PRIMARY KEY,
    account_id            uuid NOT NULL,
    generic_link_id       uuid NOT NULL,
    email                 text NOT NULL, -- as typed
    email_key             text NOT NULL, -- in lower case: what is compared
    name                  text,
    verified              boolean NOT NULL DEFAULT false,
    submitted_at          timestamptz(3) NOT NULL DEFAULT now(),
    verification_required boolean NOT NULL DEFAULT false,
    verified_at           timestamptz(3),
    utm                   jsonb,         -- parameters of the landing page, such as utm_source
    referrer              text,          -- the page before it, without its query
    consent_text          text,          -- what was agreed to, as it was shown
    privacy_url           text,
    consented_at          timestamptz(3),
    UNIQUE (account_id, id),
    CONSTRAINT submissions_email UNIQUE (generic_link_id, email_key),
    FOREIGN KEY (account_id, generic_link_id) REFERENCES generic_links (account_id, id) ON DELETE CASCADE
) WITH (fillfactor = 80);
CREATE INDEX submissions_newest ON submissions (account_id, generic_link_id, submitted_at DESC, id DESC);
-- When a submission became a lead: at once, or when its address was verified. Null: it is none yet.
CREATE INDEX submissions_leads ON submissions
    (account_id, (CASE WHEN verification_required THEN verified_at ELSE submitted_at END));

CREATE TABLE access_links (
    id              uuid PRIMARY KEY,
    account_id      uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
    lead_magnet_id  uuid NOT NULL,
    generic_link_id uuid,
    submission_id   uuid,
    email           text NOT NULL,
    email_key       text NOT NULL,
    max_views       integer CHECK (max_views BETWEEN 1 AND 10000),
    opened_count    integer NOT NULL DEFAULT 0,                  -- openings, counted when a session starts; enforces max_views
    expires_at      timestamptz(3),
    is_active       boolean NOT NULL DEFAULT true,
    created_at      timestamptz(3) NOT NULL DEFAULT now(),
    updated_at      timestamptz(3) NOT NULL DEFAULT now(),
    revision        bigint NOT NULL DEFAULT 1,
    source          text NOT NULL DEFAULT 'api' CHECK (source IN ('api', 'mail', 'form')),
    additional      boolean NOT NULL DEFAULT false,              -- a form gave it while the mailbox has one as well
    verified        boolean NOT NULL DEFAULT false,              -- its recipient verified the address of the submission
    -- The token is the secret part of the link's URL.
    token_hash      bytea NOT NULL CHECK (octet_length(token_hash) = 32), -- SHA-256: a token has 130 random bits
    token_sealed    bytea NOT NULL,
    token_key       smallint NOT NULL CHECK (token_key >= 0),    -- id of the token key that sealed it
    -- The source of the submission that made a link stays with the link when its landing page is deleted.
    utm             jsonb,
    referrer        text,
    FOREIGN KEY (account_id, lead_magnet_id) REFERENCES lead_magnets (account_id, id),
    FOREIGN KEY (account_id, generic_link_id) REFERENCES generic_links (account_id, id)
        ON DELETE SET NULL (generic_link_id),
    FOREIGN KEY (account_id, submission_id) REFERENCES submissions (account_id, id)
        ON DELETE SET NULL (submission_id),
    CONSTRAINT access_links_of_account UNIQUE (account_id, id)
) WITH (fillfactor = 80);
CREATE INDEX access_links_newest ON access_links (account_id, created_at DESC, id DESC);
CREATE INDEX access_links_magnet ON access_links (account_id, lead_magnet_id, created_at DESC, id DESC);
CREATE INDEX access_links_email ON access_links (account_id, email_key, created_at DESC, id DESC);
CREATE INDEX access_links_generic ON access_links (generic_link_id);
CREATE INDEX access_links_submission ON access_links (submission_id);
-- For exact totals. Its keys have few different values, so it takes about seven bytes a row, and
-- counting reads little else.
CREATE INDEX access_links_count ON access_links (account_id, lead_magnet_id, is_active);
CREATE UNIQUE INDEX access_links_mailbox ON access_links (submission_id) WHERE source = 'mail';
CREATE INDEX access_links_verified ON access_links (account_id, email_key) WHERE verified;
CREATE UNIQUE INDEX access_links_token_hash ON access_links (token_hash);
CREATE INDEX access_links_sealed_by ON access_links (token_key);

-- The present window of each rate limit. A subject has one row, which its next window takes over, so
-- there is nothing to clean up; the free space of the pages keeps each update within its page and out
-- of the index. Unlogged: an update costs no write-ahead log and no sync, and a crash of Postgres
-- forgets a minute's counts, no more.
CREATE UNLOGGED TABLE rate_limits (
    policy  text COLLATE "C" NOT NULL,
    subject uuid NOT NULL, -- the key or the account that is counted
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
    request     bytea NOT NULL,       -- SHA-256 of path, query and body
    claim       uuid NOT NULL,        -- of the request that runs, or ran, the operation
    claimed_at  timestamptz NOT NULL,
    given_up_at timestamptz NOT NULL, -- when the claim holds no longer
    took_effect boolean NOT NULL DEFAULT false,
    answered_at timestamptz,          -- null: there is no answer to replay
    status      integer,
    header      jsonb,
    -- SQL has no keys, and answers are kept for a day: those of before go. Whoever repeats a request of before is told that it took effect.
    sealed      bytea,                -- null: the answer is not kept, because it holds a secret
    PRIMARY KEY (account_id, operation, key)
) WITH (fillfactor = 70);
-- A key may name a person. The statistics of an emptied table stay, so there are none of it.
ALTER TABLE idempotency_keys ALTER COLUMN key SET STATISTICS 0;
CREATE INDEX idempotency_keys_oldest ON idempotency_keys (claimed_at);

-- What is on record of each topic. Keys are distributed over as many partitions as it had when a process first met it. Kafka may get more,
-- which are not used: repeats of an event that lie in two partitions are not recognised.
CREATE TABLE topics (
    topic_id    uuid PRIMARY KEY, -- a topic that was recreated under the same name has another
    topic       text NOT NULL,
    partitions  integer,
    recorded_at timestamptz(3) NOT NULL DEFAULT now()
);

-- The copies of the events: each is a complete store of its own, one ClickHouse server or a set of shards, and is filled from Kafka by a
-- consumer group of its own.
CREATE TABLE copies (
    copy         integer PRIMARY KEY CHECK (copy BETWEEN 1 AND 65),
    added_at     timestamptz(3) NOT NULL DEFAULT now(),
    stored_until timestamptz(3) NOT NULL DEFAULT '-infinity', -- it has everything that was in Kafka at that time
    purge        boolean NOT NULL DEFAULT false,              -- addresses that were mirrored are still on its disk
    compared_at  timestamptz(3) NOT NULL DEFAULT '-infinity', -- when what is mirrored was compared
    cluster      text NOT NULL DEFAULT ''                     -- system identifier and timeline of Postgres at that time
);

-- The greatest number that a copy has had.
CREATE SEQUENCE copy_number;
CREATE FUNCTION last_copy() RETURNS integer LANGUAGE sql SET search_path FROM CURRENT RETURN (SELECT last_value::integer FROM copy_number);

-- The consumer group that stores a topic's records in a copy: two would store every event twice.
CREATE TABLE topic_groups (
    topic_id       uuid NOT NULL,
    copy           integer NOT NULL REFERENCES copies ON DELETE CASCADE,
    topic          text NOT NULL,
    consumer_group text NOT NULL,
    PRIMARY KEY (topic_id, copy),
    UNIQUE (topic_id, consumer_group)
);

-- An access link whose generic link or submission is deleted shows null in its place, so that is a change
-- of it, whoever deletes what: its ETag of before must not pass for the present one.
-- +goose StatementBegin
CREATE FUNCTION access_link_detached() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.revision := OLD.revision + 1;
    NEW.updated_at := clock_timestamp();
    RETURN NEW;
END
$$;
-- +goose StatementEnd

-- One try to verify the address of a submission; each submitting of the form begins one. It holds
-- nothing that opens anything: only the browser that submitted has the page's secret, and only the
-- mailbox has the link and the code.
CREATE TABLE verifications (
    id            uuid PRIMARY KEY,
    account_id    uuid NOT NULL,
    submission_id uuid NOT NULL,
    email         text NOT NULL,              -- as typed this time
    page_hash     bytea NOT NULL UNIQUE,      -- SHA-256 of the secret in the address of the waiting page
    link_hash     bytea NOT NULL UNIQUE,      -- SHA-256 of the secret in the mail's link
    code_hash     bytea NOT NULL,             -- SHA-256 of the page's secret and the code: useless without the former
    attempts      integer NOT NULL DEFAULT 0, -- codes that were tried
    mails         integer NOT NULL DEFAULT 1, -- that were sent
    sent_at       timestamptz(3) NOT NULL,    -- of the last one
    expires_at    timestamptz(3) NOT NULL,
    used_at       timestamptz(3),
    language      text NOT NULL DEFAULT 'en',
    FOREIGN KEY (account_id, submission_id) REFERENCES submissions (account_id, id) ON DELETE CASCADE
);
CREATE INDEX verifications_submission ON verifications (account_id, submission_id);
CREATE INDEX verifications_oldest ON verifications (expires_at);

-- Slugs that led somewhere once: their visitors are told that it is gone, rather than that it never
-- was. A link that takes the slug again counts for more.
CREATE TABLE retired_slugs (
    slug       text PRIMARY KEY,
    retired_at timestamptz(3) NOT NULL DEFAULT now(),
    owner      uuid  -- account; null: not known, so no account can take the slug
);

-- +goose StatementBegin
CREATE FUNCTION retire_slug() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO retired_slugs (slug, owner) VALUES (OLD.slug, OLD.account_id) ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

-- What visitors did in the present window of each limit. A subject is a keyed hash of an address.
-- Unlogged: a crash of Postgres forgets the counts, no more.
CREATE UNLOGGED TABLE visitor_counts (
    policy  text COLLATE "C" NOT NULL,
    subject uuid NOT NULL,
    started timestamptz NOT NULL,
    ends    timestamptz NOT NULL,
    used    integer NOT NULL,
    PRIMARY KEY (policy, subject)
) WITH (fillfactor = 70);
CREATE INDEX visitor_counts_oldest ON visitor_counts (ends);

-- One opening of an access link.
CREATE TABLE sessions (
    id             uuid PRIMARY KEY,                -- the session_id of its events
    account_id     uuid NOT NULL,
    access_link_id uuid NOT NULL,
    magnet_version integer NOT NULL,                -- of the file, which stays the same while it is read
    started_at     timestamptz(3) NOT NULL DEFAULT now(),
    last_active_at timestamptz(3) NOT NULL DEFAULT now(),
    ended_at       timestamptz(3),                  -- null: it may go on
    pages          integer[] NOT NULL DEFAULT '{}', -- seen, each once, in ascending order; set from ClickHouse
    duration_ms    bigint NOT NULL DEFAULT 0,       -- that pages were visible; set from ClickHouse
    -- People's downloads that the events of a session tell of; set from ClickHouse.
    downloads      integer NOT NULL DEFAULT 0,
    bot            boolean NOT NULL DEFAULT false,
    UNIQUE (account_id, id),
    FOREIGN KEY (account_id, access_link_id) REFERENCES access_links (account_id, id) ON DELETE CASCADE
) WITH (fillfactor = 80);
CREATE INDEX sessions_link ON sessions (account_id, access_link_id, started_at DESC);
CREATE INDEX sessions_unended ON sessions (started_at) WHERE ended_at IS NULL;

-- One click on download. A download may take several requests, each for a part of the file.
CREATE TABLE downloads (
    id           uuid PRIMARY KEY,
    account_id   uuid NOT NULL,
    session_id   uuid NOT NULL,
    event_id     uuid NOT NULL,                        -- of its event download_completed
    served       int8multirange NOT NULL DEFAULT '{}', -- bytes that went out
    started_at   timestamptz(3) NOT NULL DEFAULT now(),
    completed_at timestamptz(3),                       -- when all of them had
    FOREIGN KEY (account_id, session_id) REFERENCES sessions (account_id, id) ON DELETE CASCADE
) WITH (fillfactor = 80);
CREATE INDEX downloads_session ON downloads (account_id, session_id);

-- The queue of background work (mails, webhooks, …), and to whom notices about new leads go.
--
-- The tables are those of River (github.com/riverqueue/river), as its own migrations 1 to 8 leave
-- them; a test in crud/queue compares them with River's. A later release of River that brings a
-- migration gets one here.
CREATE TABLE river_migration (
    line       text NOT NULL,
    version    bigint NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT line_length CHECK (char_length(line) > 0 AND char_length(line) < 128),
    CONSTRAINT version_gte_1 CHECK (version >= 1),
    PRIMARY KEY (line, version)
);

CREATE TYPE river_job_state AS ENUM (
    'available', 'cancelled', 'completed', 'discarded', 'pending', 'retryable', 'running', 'scheduled'
);

-- +goose StatementBegin
CREATE FUNCTION river_job_state_in_bitmask(bitmask bit(8), state river_job_state) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE state
        WHEN 'available' THEN get_bit(bitmask, 7)
        WHEN 'cancelled' THEN get_bit(bitmask, 6)
        WHEN 'completed' THEN get_bit(bitmask, 5)
        WHEN 'discarded' THEN get_bit(bitmask, 4)
        WHEN 'pending'   THEN get_bit(bitmask, 3)
        WHEN 'retryable' THEN get_bit(bitmask, 2)
        WHEN 'running'   THEN get_bit(bitmask, 1)
        WHEN 'scheduled' THEN get_bit(bitmask, 0)
        ELSE 0
    END = 1;
$$;
-- +goose StatementEnd

CREATE TABLE river_job (
    id            bigserial PRIMARY KEY,
    state         river_job_state NOT NULL DEFAULT 'available',
    attempt       smallint NOT NULL DEFAULT 0,
    max_attempts  smallint NOT NULL DEFAULT 25,
    attempted_at  timestamptz,
    created_at    timestamptz NOT NULL DEFAULT now(),
    finalized_at  timestamptz,
    scheduled_at  timestamptz NOT NULL DEFAULT now(),
    priority      smallint NOT NULL DEFAULT 1,
    args          jsonb NOT NULL,
    attempted_by  text[],
    errors        jsonb[],
    kind          text NOT NULL,
    metadata      jsonb NOT NULL DEFAULT '{}',
    queue         text NOT NULL DEFAULT 'default',
    tags          varchar(255)[] NOT NULL DEFAULT '{}',
    unique_key    bytea,
    unique_states bit(8),
    CONSTRAINT finalized_or_finalized_at_null CHECK (
        (finalized_at IS NULL AND state NOT IN ('cancelled', 'completed', 'discarded')) OR
        (finalized_at IS NOT NULL AND state IN ('cancelled', 'completed', 'discarded'))),
    CONSTRAINT max_attempts_is_positive CHECK (max_attempts > 0),
    CONSTRAINT priority_in_range CHECK (priority >= 1 AND priority <= 4),
    CONSTRAINT queue_length CHECK (char_length(queue) > 0 AND char_length(queue) < 128),
    CONSTRAINT kind_length CHECK (char_length(kind) > 0 AND char_length(kind) < 128)
);
-- A download to be reported has the browser of its reader. The statistics of an emptied table stay, so there are none of it.
ALTER TABLE river_job ALTER COLUMN args SET STATISTICS 0;
CREATE INDEX river_job_kind ON river_job (kind);
CREATE INDEX river_job_state_and_finalized_at_index ON river_job (state, finalized_at) WHERE finalized_at IS NOT NULL;
CREATE INDEX river_job_prioritized_fetching_index ON river_job (state, queue, priority, scheduled_at, id);
CREATE INDEX river_job_args_index ON river_job USING gin (args);
CREATE INDEX river_job_metadata_index ON river_job USING gin (metadata);
CREATE UNIQUE INDEX river_job_unique_idx ON river_job (unique_key)
    WHERE unique_key IS NOT NULL AND unique_states IS NOT NULL AND river_job_state_in_bitmask(unique_states, state);

CREATE UNLOGGED TABLE river_leader (
    elected_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    leader_id  text NOT NULL,
    name       text PRIMARY KEY DEFAULT 'default',
    CONSTRAINT name_length CHECK (name = 'default'),
    CONSTRAINT leader_id_length CHECK (char_length(leader_id) > 0 AND char_length(leader_id) < 128)
);

CREATE TABLE river_queue (
    name       text PRIMARY KEY,
    created_at timestamptz NOT NULL DEFAULT now(),
    metadata   jsonb NOT NULL DEFAULT '{}',
    paused_at  timestamptz,
    updated_at timestamptz NOT NULL DEFAULT current_timestamp
);

CREATE TABLE river_notification (
    id         bigserial PRIMARY KEY,
    created_at timestamptz NOT NULL DEFAULT now(),
    payload    text NOT NULL,
    topic      text NOT NULL,
    CONSTRAINT topic_length CHECK (length(topic) > 0 AND length(topic) < 128)
);
CREATE INDEX river_notification_created_at_idx ON river_notification (created_at);
CREATE INDEX river_notification_topic_id_idx ON river_notification (topic, id);

-- Webhooks: where an account wants to be told of what happens, and what it is told.
CREATE TABLE webhook_endpoints (
    id              uuid PRIMARY KEY,
    account_id      uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
    format          text NOT NULL CHECK (format IN ('json', 'slack', 'teams', 'discord')),
    url             text NOT NULL, -- scheme and host
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
    url_sealed      bytea NOT NULL,
    UNIQUE (account_id, id)
);
CREATE INDEX webhook_endpoints_newest ON webhook_endpoints (account_id, created_at DESC, id DESC);

-- What the deliveries of an endpoint are signed with: the newest secret, and those before it until
-- they expire. The role of requests can write them, and not read them.
CREATE TABLE webhook_secrets (
    id          uuid PRIMARY KEY,
    account_id  uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    created_at  timestamptz(3) NOT NULL DEFAULT now(),
    expires_at  timestamptz(3),                                       -- null: the present one
    sealed      bytea NOT NULL CHECK (octet_length(sealed) BETWEEN 52 AND 92), -- 24 to 64 bytes, nonce and tag
    FOREIGN KEY (account_id, endpoint_id) REFERENCES webhook_endpoints (account_id, id) ON DELETE CASCADE
);
CREATE INDEX webhook_secrets_endpoint ON webhook_secrets (endpoint_id, created_at DESC);

-- One message to one endpoint, written in the transaction of what it tells of. It is the outbox as
-- long as it is pending, and the log afterwards.
CREATE TABLE webhook_deliveries (
    id              uuid PRIMARY KEY,
    account_id      uuid NOT NULL,
    endpoint_id     uuid NOT NULL,
    event_id        uuid NOT NULL,               -- the same for every endpoint that is told of one event
    kind            text NOT NULL,
    state           text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed')),
    reason          text,                        -- why it failed
    tries           integer NOT NULL DEFAULT 0,  -- attempts since it was made or replayed
    next_attempt_at timestamptz(3) DEFAULT now() CHECK ((next_attempt_at IS NULL) = (state <> 'pending')),
    claim           uuid,                        -- of the attempt that is being made
    claimed_until   timestamptz(3),              -- when whoever makes it must be dead
    attempts        jsonb NOT NULL DEFAULT '[]', -- the last ones, the oldest first
    created_at      timestamptz(3) NOT NULL DEFAULT now(),
    settled_at      timestamptz(3),
    body_sealed     bytea NOT NULL,              -- what is sent and signed, to the byte
    FOREIGN KEY (account_id, endpoint_id) REFERENCES webhook_endpoints (account_id, id) ON DELETE CASCADE
);
CREATE INDEX webhook_deliveries_newest ON webhook_deliveries (account_id, endpoint_id, created_at DESC, id DESC);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, next_attempt_at) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_claimed ON webhook_deliveries (endpoint_id) WHERE claim IS NOT NULL;
CREATE INDEX webhook_deliveries_oldest ON webhook_deliveries (created_at);

-- Each is served to anybody who knows its id, and never changes: another picture has another id.
CREATE TABLE pictures (
    id              text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{32}$'), -- random: nobody can guess it
    account_id      uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
    kind            text NOT NULL CHECK (kind IN ('small', 'large', 'preview', 'logo', 'inside1', 'inside2', 'inside3')),
    lead_magnet_id  uuid,                                           -- of this version of its file, or
    version         integer,
    generic_link_id uuid,                                           -- uploaded for this link, or of the account
    content_type    text NOT NULL CHECK (content_type IN ('image/jpeg', 'image/png')),
    width           integer NOT NULL,                               -- pixels
    height          integer NOT NULL,
    bytes           bytea NOT NULL,
    created_at      timestamptz(3) NOT NULL DEFAULT now(),
    CHECK ((lead_magnet_id IS NULL) = (version IS NULL)),
    CHECK (num_nonnulls(lead_magnet_id, generic_link_id) = CASE kind WHEN 'logo' THEN 0 ELSE 1 END),
    FOREIGN KEY (account_id, lead_magnet_id, version)
        REFERENCES lead_magnet_files (account_id, lead_magnet_id, version) ON DELETE CASCADE,
    FOREIGN KEY (account_id, generic_link_id) REFERENCES generic_links (account_id, id) ON DELETE CASCADE
);
ALTER TABLE pictures ALTER COLUMN bytes SET STORAGE EXTERNAL;
CREATE UNIQUE INDEX pictures_file ON pictures (lead_magnet_id, version, kind) WHERE lead_magnet_id IS NOT NULL;
CREATE UNIQUE INDEX pictures_link ON pictures (generic_link_id, kind) WHERE generic_link_id IS NOT NULL;
CREATE UNIQUE INDEX pictures_logo ON pictures (account_id) WHERE kind = 'logo';

-- The last round of services of which one runs at a time, over all processes, and what it passes to the next. Of the counters:
-- everything that Kafka had at finished_at is counted; while that is behind, no session counts as over.
CREATE TABLE rounds (
    service     text PRIMARY KEY,
    began_at    timestamptz(3),
    finished_at timestamptz(3) NOT NULL,
    state       jsonb
);

CREATE SEQUENCE entity_version;

-- Which lead magnets and links each copy of the events lacks (package ingest/mirror). Each change
-- leaves a row for each copy in its own transaction; who mirrors the state of then takes the row away. No row has
-- anything of an account, and only functions of the tables' owner write here.
CREATE TABLE entity_changes (
    copy       integer NOT NULL,
    number     bigint GENERATED ALWAYS AS IDENTITY,
    entity     text COLLATE "C" NOT NULL, -- name of the table
    id         uuid NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (copy, number)
);

-- One row: how the copies are made.
CREATE TABLE entity_copy (
    single     boolean PRIMARY KEY DEFAULT true CHECK (single),
    emails     boolean NOT NULL DEFAULT false, -- addresses are copied
    -- The secret of person_id. No other database has it, so ids cannot be compared or guessed from addresses there.
    person_key bytea NOT NULL DEFAULT uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
);

-- +goose StatementBegin
CREATE FUNCTION note_entities() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO entity_changes (copy, entity, id) SELECT c.copy, TG_TABLE_NAME, n.id FROM changed n CROSS JOIN copies c;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION note_entity() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO entity_changes (copy, entity, id) SELECT c.copy, TG_TABLE_NAME, NEW.id FROM copies c;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

-- The salts of the address hash, one a UTC day, encrypted under a key derived from the token keys. Unlogged: they are in no
-- write-ahead log and no replica; a row is destroyed 48 h after its day began.
CREATE UNLOGGED TABLE ip_salts (
    day    date PRIMARY KEY,
    sealed bytea NOT NULL CHECK (octet_length(sealed) = 60)
);

-- Offsets that Kafka deleted before a consumer stored them (package ingest/consumer).
CREATE TABLE lost_ranges (
    topic_id  uuid NOT NULL,
    copy      integer NOT NULL,
    topic     text NOT NULL,
    partition integer NOT NULL,
    offsets   int8multirange NOT NULL,
    found_at  timestamptz(3) NOT NULL DEFAULT now(), -- the last of them
    PRIMARY KEY (topic_id, copy, partition)
);

-- For how long events are kept: what every process goes by, whatever its own settings say.
CREATE TABLE retention_setting (
    single      boolean PRIMARY KEY DEFAULT true CHECK (single),
    months      integer NOT NULL CHECK (months >= 0), -- 0 keeps everything
    next_months integer CHECK (next_months > 0),      -- replaces months at next_at: a shorter time waits
    next_at     timestamptz(3),
    changed_at  timestamptz(3) NOT NULL DEFAULT now(),
    CHECK ((next_months IS NULL) = (next_at IS NULL))
);

-- +goose StatementBegin
CREATE FUNCTION slug_of_another(wanted text, account uuid) RETURNS boolean LANGUAGE sql STABLE
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT EXISTS (SELECT FROM retired_slugs WHERE slug = wanted AND owner IS DISTINCT FROM account)
$$;
-- +goose StatementEnd

-- After the row is there, since a link with the slug may have been deleted while the insert waited for it.
-- +goose StatementBegin
CREATE FUNCTION keep_slug() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF slug_of_another(NEW.slug, NEW.account_id) THEN
        RAISE unique_violation USING MESSAGE = 'the slug belongs to another account', CONSTRAINT = 'generic_links_slug';
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

-- How many events an account has sent in the present month, beside what its plan allows. The consumer's process counts
-- (ingest/quota), collectors refuse what is beyond, and the account reads its own row.
CREATE TABLE event_usage (
    account_id  uuid PRIMARY KEY REFERENCES accounts ON DELETE CASCADE,
    month       date NOT NULL,   -- its first day, in UTC
    events      bigint NOT NULL, -- stored in that month
    event_limit bigint,          -- what the plan allows; NULL: any number
    exceeded    boolean NOT NULL GENERATED ALWAYS AS (coalesce(events >= event_limit, false)) STORED
) WITH (fillfactor = 70);
CREATE INDEX event_usage_exceeded ON event_usage (month) WHERE exceeded;

-- +goose StatementBegin
CREATE FUNCTION take_source() RETURNS trigger LANGUAGE plpgsql
    SET search_path FROM CURRENT AS $$
BEGIN
    SELECT s.utm, s.referrer INTO NEW.utm, NEW.referrer FROM submissions s WHERE s.id = NEW.submission_id;
    RETURN NEW;
END
$$;
-- +goose StatementEnd

-- An id of the person behind an address of an account: the same for each of their links, and nothing else.
CREATE FUNCTION person_id(account uuid, email_key text) RETURNS uuid LANGUAGE sql STABLE
    SET search_path FROM CURRENT
    RETURN encode(substring(sha256((SELECT person_key FROM entity_copy) || uuid_send(account) || convert_to(email_key, 'UTF8')) FOR 16), 'hex')::uuid;

-- What reports need of links and submissions: where a reader came from, and which links are one person's.
CREATE VIEW copied_entities WITH (security_invoker = true) AS
    SELECT 'lead_magnets' AS entity, m.id, concat_ws(chr(31), m.id, m.account_id, m.title, coalesce(m.description, ''), m.is_active::int, m.file_version,
        coalesce(f.page_count, 0), floor(extract(epoch FROM m.created_at) * 1000)::bigint, floor(extract(epoch FROM m.updated_at) * 1000)::bigint) AS content
    FROM lead_magnets m LEFT JOIN lead_magnet_files f ON f.lead_magnet_id = m.id AND f.version = m.file_version
    UNION ALL
    SELECT 'generic_links', l.id, concat_ws(chr(31), l.id, l.account_id, l.lead_magnet_id, l.slug, coalesce(l.title, ''), l.active::int, l.require_verification::int,
        l.submission_count, floor(extract(epoch FROM l.created_at) * 1000)::bigint, floor(extract(epoch FROM l.updated_at) * 1000)::bigint)
    FROM generic_links l
    UNION ALL
    SELECT 'access_links', a.id, concat_ws(chr(31), a.id, a.account_id, a.lead_magnet_id, coalesce(a.generic_link_id::text, ''),
        coalesce(a.submission_id::text, ''), CASE WHEN (SELECT emails FROM entity_copy) THEN a.email ELSE '' END, substring(a.email_key FROM '[^@]*$'),
        person_id(a.account_id, a.email_key), a.source, coalesce(a.utm ->> 'utm_source', ''), coalesce(a.utm ->> 'utm_medium', ''),
        coalesce(a.utm ->> 'utm_campaign', ''), coalesce(a.utm ->> 'utm_content', ''), coalesce(a.utm ->> 'utm_term', ''), coalesce(a.referrer, ''),
        coalesce(a.max_views::text, ''), coalesce(floor(extract(epoch FROM a.expires_at) * 1000)::bigint::text, ''), a.is_active::int,
        floor(extract(epoch FROM a.created_at) * 1000)::bigint, floor(extract(epoch FROM a.updated_at) * 1000)::bigint)
    FROM access_links a
    UNION ALL
    SELECT 'submissions', s.id, concat_ws(chr(31), s.id, s.account_id, l.lead_magnet_id, s.generic_link_id,
        CASE WHEN (SELECT emails FROM entity_copy) THEN s.email ELSE '' END, substring(s.email_key FROM '[^@]*$'), person_id(s.account_id, s.email_key),
        s.verification_required::int, s.verified::int, coalesce(s.utm ->> 'utm_source', ''), coalesce(s.utm ->> 'utm_medium', ''),
        coalesce(s.utm ->> 'utm_campaign', ''), coalesce(s.utm ->> 'utm_content', ''), coalesce(s.utm ->> 'utm_term', ''), coalesce(s.referrer, ''),
        floor(extract(epoch FROM s.submitted_at) * 1000)::bigint, coalesce(floor(extract(epoch FROM s.verified_at) * 1000)::bigint::text, ''),
        coalesce(floor(extract(epoch FROM s.consented_at) * 1000)::bigint::text, ''))
    FROM submissions s JOIN generic_links l ON l.account_id = s.account_id AND l.id = s.generic_link_id;

-- People: who may sign in to an account's dashboard, as what, and their sessions.
CREATE TABLE users (
    id         uuid PRIMARY KEY,
    email      text NOT NULL, -- as typed first
    email_key  text NOT NULL UNIQUE,
    created_at timestamptz(3) NOT NULL DEFAULT now()
);

CREATE TABLE memberships (
    account_id    uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
    user_id       uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    role          text NOT NULL CHECK (role IN ('owner', 'editor', 'analyst')),
    created_at    timestamptz(3) NOT NULL DEFAULT now(),
    last_seen_at  timestamptz(3),
    -- null: as the role has it by default, which is on for owners.
    weekly_report boolean,
    PRIMARY KEY (account_id, user_id)
) WITH (fillfactor = 80);
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

-- An invitation is for one address. Accepting it deletes it.
CREATE TABLE invitations (
    id          uuid PRIMARY KEY,
    account_id  uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
    email       text NOT NULL,
    email_key   text NOT NULL,
    role        text NOT NULL CHECK (role IN ('owner', 'editor', 'analyst')),
    secret_hash bytea NOT NULL UNIQUE, -- SHA-256 of the secret in the mail's link
    created_at  timestamptz(3) NOT NULL DEFAULT now(),
    expires_at  timestamptz(3) NOT NULL,
    CONSTRAINT invitations_email UNIQUE (account_id, email_key)
);

-- One try to sign in: of a browser that entered an address, or the link that lodestone up prints. It holds nothing that opens
-- anything: only the browser has its cookie and the page's secret, and only the mailbox has the link and the code.
CREATE TABLE sign_ins (
    id           uuid PRIMARY KEY,
    user_id      uuid REFERENCES users ON DELETE CASCADE, -- null: no user has the address, and no mail was sent
    email        text NOT NULL,                           -- as typed
    browser_hash bytea,                                   -- SHA-256 of the browser's cookie; null: any browser may use the link
    page_hash    bytea UNIQUE,                            -- SHA-256 of the secret in the address of the waiting page
    link_hash    bytea NOT NULL UNIQUE,                   -- SHA-256 of the secret in the link
    code_hash    bytea NOT NULL,                          -- SHA-256 of the page's secret and the code
    next         text NOT NULL,                           -- path of this site
    attempts     integer NOT NULL DEFAULT 0,
    mails        integer NOT NULL DEFAULT 1,
    sent_at      timestamptz(3) NOT NULL DEFAULT now(),
    expires_at   timestamptz(3) NOT NULL,
    used_at      timestamptz(3)
);
CREATE INDEX sign_ins_oldest ON sign_ins (expires_at);
CREATE INDEX sign_ins_user ON sign_ins (user_id);

CREATE TABLE user_sessions (
    id             uuid PRIMARY KEY,
    account_id     uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
    user_id        uuid,                                  -- null: signed in by an API key
    key_id         uuid,                                  -- the API key, which the session ends with
    method         text NOT NULL CHECK (method IN ('mail', 'key', 'link', 'invitation', 'openid')),
    cookie_hash    bytea NOT NULL UNIQUE,
    key_hash       bytea NOT NULL UNIQUE,
    user_agent     text NOT NULL,
    started_at     timestamptz(3) NOT NULL DEFAULT now(),
    last_active_at timestamptz(3) NOT NULL DEFAULT now(), -- exact to a minute
    ended_at       timestamptz(3),
    CHECK (num_nonnulls(user_id, key_id) = 1),
    FOREIGN KEY (account_id, user_id) REFERENCES memberships (account_id, user_id) ON DELETE CASCADE,
    FOREIGN KEY (account_id, key_id) REFERENCES api_keys (account_id, id) ON DELETE CASCADE
) WITH (fillfactor = 80);
CREATE INDEX user_sessions_user ON user_sessions (account_id, user_id);
CREATE INDEX user_sessions_key ON user_sessions (key_id);
CREATE INDEX user_sessions_oldest ON user_sessions (started_at);

-- When a session ends if nothing more happens: after 12 hours without a page, and after 30 days in any case.
CREATE FUNCTION user_session_end(started_at timestamptz, last_active_at timestamptz, ended_at timestamptz) RETURNS timestamptz
    LANGUAGE sql STABLE
    RETURN coalesce(ended_at, least(started_at + interval '720 hours', last_active_at + interval '12 hours'));

-- What people and keys did to an account: who, what, which object, when. The role of accounts adds rows and reads them, and can neither
-- change nor delete them.
CREATE TABLE audit_log (
    id         uuid PRIMARY KEY,
    account_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
    at         timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
    action     text NOT NULL, -- id of the API's operation, or one of signing in
    object_id  uuid,          -- what it was done to; null: the account, or several objects
    actor      text NOT NULL, -- address of the person or name of the key, as it was then
    user_id    uuid,
    session_id uuid,
    key_id     uuid,
    request_id text NOT NULL
);
CREATE INDEX audit_log_newest ON audit_log (account_id, id DESC);

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
    state_hash     bytea PRIMARY KEY, -- SHA-256 of the state
    browser_hash   bytea NOT NULL,    -- SHA-256 of the browser's cookie
    secrets_sealed bytea NOT NULL,    -- the nonce and the code verifier
    next           text NOT NULL,
    expires_at     timestamptz(3) NOT NULL
);
CREATE INDEX openid_requests_oldest ON openid_requests (expires_at);

-- Campaign parameters that an account saved, to put them into the addresses of its links.
CREATE TABLE utm_templates (
    id         uuid PRIMARY KEY,
    account_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
    name       text NOT NULL,
    source     text,
    medium     text,
    campaign   text,
    content    text,
    term       text,
    revision   bigint NOT NULL DEFAULT 1,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    updated_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX utm_templates_newest ON utm_templates (account_id, created_at DESC, id DESC);

-- Links that show the statistics of one lead magnet to whoever has them.
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
) WITH (fillfactor = 80);
CREATE INDEX shares_newest ON shares (account_id, lead_magnet_id, created_at DESC, id DESC);

-- Forms of generic links on other sites: where they may stand, and where they were last seen.
CREATE TABLE embeds (
    generic_link_id uuid PRIMARY KEY,
    account_id      uuid NOT NULL,
    seen_origin     text, -- an allowed one
    seen_at         timestamptz(3),
    refused_origin  text, -- one that is not allowed
    refused_at      timestamptz(3),
    FOREIGN KEY (account_id, generic_link_id) REFERENCES generic_links (account_id, id) ON DELETE CASCADE
);

-- A session with news, once it is over. There is one row a session, so there is one notice.
CREATE TABLE reading_notices (
    session_id     uuid PRIMARY KEY,
    account_id     uuid NOT NULL,
    access_link_id uuid NOT NULL,
    news           text[] NOT NULL,                                 -- finished, downloaded, returned, opened; the most important first
    send           text NOT NULL CHECK (send IN ('each', 'daily')), -- each that is too much for an hour becomes daily
    recorded_at    timestamptz(3) NOT NULL DEFAULT now(),
    settled_at     timestamptz(3),                                  -- when its mail was queued, or it turned out that none is wanted; null: it waits
    FOREIGN KEY (account_id, session_id) REFERENCES sessions (account_id, id) ON DELETE CASCADE,
    FOREIGN KEY (account_id, access_link_id) REFERENCES access_links (account_id, id) ON DELETE CASCADE
);
CREATE INDEX reading_notices_waiting ON reading_notices (account_id, recorded_at) WHERE settled_at IS NULL;
CREATE INDEX reading_notices_link ON reading_notices (account_id, access_link_id);

-- Small pictures of the pages of documents, for those who publish them. They are made when they are first asked for.
CREATE TABLE page_pictures (
    lead_magnet_id uuid NOT NULL,
    version        integer NOT NULL,
    page           integer NOT NULL CHECK (page BETWEEN 1 AND 300),
    account_id     uuid NOT NULL,
    content_type   text NOT NULL CHECK (content_type IN ('image/jpeg', 'image/png')),
    bytes          bytea, -- null: the page cannot be rendered
    created_at     timestamptz(3) NOT NULL DEFAULT now(),
    PRIMARY KEY (lead_magnet_id, version, page),
    FOREIGN KEY (account_id, lead_magnet_id, version)
        REFERENCES lead_magnet_files (account_id, lead_magnet_id, version) ON DELETE CASCADE
);
ALTER TABLE page_pictures ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- The weekly report by mail, and the keys with which its job reads the account's reports.
CREATE TABLE report_keys (
    id         uuid PRIMARY KEY,
    account_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
    key_hash   bytea NOT NULL UNIQUE,
    expires_at timestamptz NOT NULL
);
CREATE INDEX report_keys_account ON report_keys (account_id);

-- Objects that no file uses any more, until the store has removed them.
CREATE TABLE file_removals (
    id uuid PRIMARY KEY
);

-- People and accounts whose data was erased. What holds their events (Kafka, spools, ClickHouse) consults the list, and the log outside
-- the databases (--erasure-log) holds the same, so that a restored database can be brought up to it.
CREATE TABLE erasures (
    id            uuid PRIMARY KEY,
    account_id    uuid NOT NULL,           -- no reference: an erasure outlives the account
    person_id     uuid NOT NULL,           -- as person_id() made it: the address is not kept
    erased_at     timestamptz(3) NOT NULL, -- when it was asked for: what is stored later is not concerned
    removed       jsonb NOT NULL,          -- how many rows of each kind Postgres lost
    blanked_at    timestamptz(3),          -- when no stored event of any copy held anything of the person any more
    records_until timestamptz(3)           -- when Kafka drops the last record of before; null: not known yet, or never
);
CREATE INDEX erasures_pending ON erasures (erased_at) WHERE blanked_at IS NULL;

-- In which copies of the events an erasure is done.
CREATE TABLE erasure_copies (
    erasure_id uuid NOT NULL REFERENCES erasures ON DELETE CASCADE,
    copy       integer NOT NULL REFERENCES copies ON DELETE CASCADE,
    blanked_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (erasure_id, copy)
);

-- The access links whose events are blanked, and what ClickHouse has copies of.
CREATE TABLE erased_links (
    id         uuid PRIMARY KEY, -- of an access link or a submission
    account_id uuid NOT NULL,
    erasure_id uuid NOT NULL REFERENCES erasures ON DELETE CASCADE,
    noted_at   timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX erased_links_noted ON erased_links (noted_at);
CREATE INDEX erased_links_erasure ON erased_links (erasure_id);

-- Access links and submissions that were deleted, with the person whose they were: their events stay, and an erasure has to find them.
CREATE TABLE deleted_links (
    id         uuid PRIMARY KEY, -- of an access link or a submission
    account_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
    person_id  uuid NOT NULL,    -- as person_id() made it: the address is not kept
    submission boolean NOT NULL,
    deleted_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX deleted_links_person ON deleted_links (person_id);
CREATE INDEX deleted_links_account ON deleted_links (account_id);

-- note_deleted_links runs with the rights of the owner: accounts cannot make ids of people. With a deleted account nothing is noted, since
-- its events are found by its own id.
-- +goose StatementBegin
CREATE FUNCTION note_deleted_links() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO deleted_links (id, account_id, person_id, submission)
    SELECT d.id, d.account_id, person_id(d.account_id, d.email_key), TG_TABLE_NAME = 'submissions'
    FROM deleted d JOIN accounts a ON a.id = d.account_id
    ON CONFLICT (id) DO NOTHING;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

-- On which ClickHouse shard of a copy the rows of a Kafka partition are (package placement). It never changes: looks for what is stored of
-- a partition are of one server.
CREATE TABLE partition_placements (
    topic_id  uuid NOT NULL, -- a topic that was recreated under the same name has another
    partition integer NOT NULL,
    topic     text NOT NULL,
    shard     integer NOT NULL CHECK (shard BETWEEN 1 AND 65000),
    copy      integer NOT NULL GENERATED ALWAYS AS ((shard - 1) / 1000 + 1) STORED, -- the shards of a copy have a thousand numbers
    placed_at timestamptz(3) NOT NULL DEFAULT now(),
    PRIMARY KEY (topic_id, partition, copy)
);

-- The views of links, in narrow tables of their own, beside the sessions that they count: what a counted session adds is decided by a
-- look at its row here, and never by the history in ClickHouse. No row that opening a document needs is locked.
CREATE TABLE access_link_counts (
    id              uuid PRIMARY KEY,
    account_id      uuid NOT NULL,
    views           bigint NOT NULL DEFAULT 0,
    first_viewed_at timestamptz(3),
    last_viewed_at  timestamptz(3),
    FOREIGN KEY (account_id, id) REFERENCES access_links (account_id, id) ON DELETE CASCADE
) WITH (fillfactor = 60);

-- The sessions that a link's views are made of. An event without a session is one of its own, by the event's id.
CREATE TABLE counted_sessions (
    link_id uuid NOT NULL REFERENCES access_link_counts (id) ON DELETE CASCADE,
    session uuid NOT NULL,
    month   integer NOT NULL, -- of its last page view, as 202611: a session leaves with the month (ingest/retention)
    PRIMARY KEY (link_id, session)
) WITH (fillfactor = 90);

CREATE TABLE generic_link_counts (
    id            uuid PRIMARY KEY,
    account_id    uuid NOT NULL,
    views         bigint NOT NULL DEFAULT 0,
    minutes_since timestamptz(0) NOT NULL DEFAULT '2000-01-01 00:00:00Z', -- landing_minutes has all minutes from here on
    FOREIGN KEY (account_id, id) REFERENCES generic_links (account_id, id) ON DELETE CASCADE
) WITH (fillfactor = 60);

-- What the views of a generic link have of a minute, for some days.
CREATE TABLE landing_minutes (
    link_id uuid NOT NULL REFERENCES generic_link_counts (id) ON DELETE CASCADE,
    minute  timestamptz(0) NOT NULL,
    views   bigint NOT NULL,
    PRIMARY KEY (link_id, minute)
) WITH (fillfactor = 80);

-- How far the counters of links reflect the stored events.
CREATE TABLE counted_partitions (
    topic_id    uuid NOT NULL,
    partition   integer NOT NULL,
    next_offset bigint NOT NULL, -- everything below it is counted
    rows_since  timestamptz(3),  -- a time shortly before which the next rows were stored: where the search for them begins
    PRIMARY KEY (topic_id, partition)
) WITH (fillfactor = 50);

-- The copy of the events that the counters go by. Another one takes over when its consumers have stopped, once it has everything that is counted.
CREATE TABLE counting_copy (
    single  boolean PRIMARY KEY DEFAULT true CHECK (single),
    copy    integer NOT NULL DEFAULT 1,
    seen_at timestamptz(3) NOT NULL DEFAULT now() -- when its consumers counted last
) WITH (fillfactor = 50);

CREATE VIEW counted_access_links WITH (security_invoker = true) AS
SELECT l.id, l.account_id, l.submission_id, coalesce(c.views, 0) AS view_count, c.first_viewed_at, c.last_viewed_at
FROM access_links l LEFT JOIN access_link_counts c ON c.id = l.id;

-- A submission has the views of its access links.
CREATE VIEW counted_submissions WITH (security_invoker = true) AS
SELECT s.id, s.account_id, coalesce(n.views, 0)::bigint AS view_count, n.first_viewed_at, n.last_viewed_at
FROM submissions s
LEFT JOIN LATERAL (
    SELECT sum(a.view_count) AS views, min(a.first_viewed_at) AS first_viewed_at, max(a.last_viewed_at) AS last_viewed_at
    FROM counted_access_links a
    WHERE a.account_id = s.account_id AND a.submission_id = s.id
) AS n ON true;

CREATE VIEW counted_generic_links WITH (security_invoker = true) AS
SELECT g.id, g.account_id, coalesce(c.views, 0) AS view_count
FROM generic_links g LEFT JOIN generic_link_counts c ON c.id = g.id;

-- How far the retention has written down the views of the month that leaves next, for each ClickHouse shard.
CREATE TABLE retention_progress (
    shard         integer PRIMARY KEY,
    month         integer NOT NULL,           -- as 202611
    step          bigint NOT NULL,
    month_rows    bigint NOT NULL,            -- at the start: rows that come later must be written down as well
    after_account uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    buckets       integer NOT NULL DEFAULT 0, -- of the account after it, if that is written down in parts
    written       integer NOT NULL DEFAULT 0, -- of the buckets
    changed_at    timestamptz(3) NOT NULL DEFAULT now()
) WITH (fillfactor = 50);

-- Counted sessions leave with the month of their last page view, some at a time.
CREATE TABLE session_expiry (
    single        boolean PRIMARY KEY DEFAULT true CHECK (single),
    month         integer NOT NULL, -- this month and those before are deleted everywhere
    noted_at      timestamptz(3) NOT NULL,
    after_link    uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    after_session uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    finished      boolean NOT NULL DEFAULT false
) WITH (fillfactor = 50);

-- That this database came from a backup (`lodestone restore`). Until the operator resumes, no mail, message or webhook leaves it, since
-- those that waited at the time of the backup may have left since.
CREATE TABLE restored (
    one         boolean PRIMARY KEY DEFAULT true CHECK (one), -- there is one row, of the last restore
    backup      text NOT NULL,
    taken_at    timestamptz(3) NOT NULL,                      -- the state that was restored
    restored_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
    resumed_at  timestamptz(3)                                -- null: paused
);

-- A number that Postgres and ClickHouse have in common, which rises every minute. If one of them was restored to another time than the other, the
-- numbers are apart.
CREATE TABLE store_pulse (
    copy         integer PRIMARY KEY REFERENCES copies ON DELETE CASCADE,
    installation uuid NOT NULL DEFAULT gen_random_uuid(),
    number       bigint NOT NULL DEFAULT 0,
    beat_at      timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
    shards       integer[] NOT NULL DEFAULT '{}'
);

-- What opened something and does so no more, until it is on record outside the databases (package crud/revocation), so that a restored
-- database of before does not open it again. Only functions of the tables' owner write here.
CREATE TABLE revocations (
    number     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    entity     text COLLATE "C" NOT NULL, -- name of the table
    id         uuid NOT NULL,
    account    uuid,                      -- of a membership, whose id is the user's
    deleted    boolean NOT NULL,          -- false: it was switched off
    revoked_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);

-- One row: the newest entry of the record that this database knows.
CREATE TABLE revocation_log (
    one    boolean PRIMARY KEY DEFAULT true CHECK (one),
    newest text COLLATE "C" NOT NULL
);

-- +goose StatementBegin
CREATE FUNCTION note_revoked() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO revocations (entity, id, deleted) VALUES (TG_TABLE_NAME, NEW.id, false);
    RETURN NULL;
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION note_revoked_deleted() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO revocations (entity, id, deleted) SELECT TG_TABLE_NAME, id, true FROM deleted;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION note_revoked_members() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO revocations (entity, id, account, deleted) SELECT TG_TABLE_NAME, user_id, account_id, true FROM deleted;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

-- How far the look for stored events of people who were erased is (package ingest/erasure). It is one look over all processes of a copy.
CREATE TABLE erasure_looks (
    copy      integer PRIMARY KEY REFERENCES copies ON DELETE CASCADE,
    looked_at timestamptz(3),                                         -- when the last complete look began; null: there was none
    began_at  timestamptz(3),                                         -- of the look under way; null: there is none
    after     uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000' -- the last link that it has looked for
);

-- add_copy puts a copy of the events on record, and reports whether it was not. What has to be done for each copy is to be done for it: it
-- may be restored from a backup, with events of people who were erased since.
-- +goose StatementBegin
CREATE FUNCTION add_copy(added integer) RETURNS boolean LANGUAGE plpgsql
    SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO copies (copy) VALUES (added) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    IF added <= last_copy() THEN
        RAISE 'copy % of the events was removed, and its consumer group has committed what this one lacks', added
            USING HINT = 'Give a number that no copy has had.';
    END IF;
    PERFORM setval('copy_number', added);
    INSERT INTO store_pulse (copy, installation)
        SELECT added, coalesce((SELECT installation FROM store_pulse ORDER BY copy LIMIT 1), gen_random_uuid());
    INSERT INTO erasure_looks (copy) VALUES (added);
    UPDATE erasures SET blanked_at = NULL, records_until = NULL WHERE blanked_at IS NOT NULL;
    RETURN true;
END
$$;
-- +goose StatementEnd

-- complete_erasures says that erasures are done which are so in every copy.
-- +goose StatementBegin
CREATE FUNCTION complete_erasures() RETURNS void LANGUAGE sql
    SET search_path FROM CURRENT AS $$
    UPDATE erasures e SET blanked_at = clock_timestamp()
        WHERE e.blanked_at IS NULL AND EXISTS (SELECT FROM copies) AND NOT EXISTS (
            SELECT FROM copies c WHERE NOT EXISTS (SELECT FROM erasure_copies o WHERE o.erasure_id = e.id AND o.copy = c.copy));
$$;
-- +goose StatementEnd

-- remove_copy takes a copy of the events that is lost off the record. Its number is not used again: the consumer group of that number has
-- committed what another store would lack.
-- +goose StatementBegin
CREATE FUNCTION remove_copy(removed integer) RETURNS void LANGUAGE plpgsql
    SET search_path FROM CURRENT AS $$
BEGIN
    DELETE FROM copies WHERE copy = removed;
    PERFORM setval('copy_number', greatest(removed, last_copy()));
    DELETE FROM entity_changes WHERE copy = removed;
    DELETE FROM partition_placements WHERE copy = removed;
    DELETE FROM lost_ranges WHERE copy = removed;
    DELETE FROM retention_progress WHERE (shard - 1) / 1000 + 1 = removed;
    PERFORM complete_erasures();
END
$$;
-- +goose StatementEnd

CREATE TRIGGER note_revoked AFTER UPDATE OF revoked_at ON api_keys FOR EACH ROW
    WHEN (OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL) EXECUTE FUNCTION note_revoked();

CREATE TRIGGER note_made AFTER INSERT ON lead_magnets
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_entities();
CREATE TRIGGER note_deleted AFTER DELETE ON lead_magnets
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_entities();
-- Changes of what is copied. Counters of views change all the time and are not.
CREATE TRIGGER note_changed AFTER UPDATE ON lead_magnets FOR EACH ROW
    WHEN (ROW(OLD.title, OLD.description, OLD.is_active, OLD.file_version, OLD.updated_at)
        IS DISTINCT FROM ROW(NEW.title, NEW.description, NEW.is_active, NEW.file_version, NEW.updated_at))
    EXECUTE FUNCTION note_entity();
CREATE TRIGGER note_revoked AFTER UPDATE OF is_active ON lead_magnets FOR EACH ROW
    WHEN (OLD.is_active AND NOT NEW.is_active) EXECUTE FUNCTION note_revoked();
CREATE TRIGGER note_revoked_deleted AFTER DELETE ON lead_magnets
    REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION note_revoked_deleted();

CREATE TRIGGER retire_slug AFTER DELETE ON generic_links FOR EACH ROW EXECUTE FUNCTION retire_slug();
CREATE TRIGGER retire_changed_slug AFTER UPDATE OF slug ON generic_links FOR EACH ROW
    WHEN (OLD.slug <> NEW.slug) EXECUTE FUNCTION retire_slug();
CREATE TRIGGER note_made AFTER INSERT ON generic_links
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_entities();
CREATE TRIGGER note_deleted AFTER DELETE ON generic_links
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_entities();
CREATE TRIGGER note_changed AFTER UPDATE ON generic_links FOR EACH ROW
    WHEN (ROW(OLD.slug, OLD.title, OLD.active, OLD.require_verification, OLD.submission_count, OLD.updated_at)
        IS DISTINCT FROM ROW(NEW.slug, NEW.title, NEW.active, NEW.require_verification, NEW.submission_count, NEW.updated_at))
    EXECUTE FUNCTION note_entity();
CREATE TRIGGER keep_slug AFTER INSERT ON generic_links FOR EACH ROW EXECUTE FUNCTION keep_slug();
CREATE TRIGGER keep_changed_slug AFTER UPDATE OF slug ON generic_links FOR EACH ROW
    WHEN (OLD.slug <> NEW.slug) EXECUTE FUNCTION keep_slug();
CREATE TRIGGER note_revoked AFTER UPDATE OF active ON generic_links FOR EACH ROW
    WHEN (OLD.active AND NOT NEW.active) EXECUTE FUNCTION note_revoked();
CREATE TRIGGER note_revoked_deleted AFTER DELETE ON generic_links
    REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION note_revoked_deleted();

CREATE TRIGGER note_made AFTER INSERT ON submissions
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_entities();
CREATE TRIGGER note_deleted AFTER DELETE ON submissions
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_entities();
CREATE TRIGGER note_changed AFTER UPDATE ON submissions FOR EACH ROW
    WHEN (ROW(OLD.email, OLD.verification_required, OLD.verified, OLD.verified_at, OLD.utm, OLD.referrer, OLD.consented_at, OLD.submitted_at)
        IS DISTINCT FROM ROW(NEW.email, NEW.verification_required, NEW.verified, NEW.verified_at, NEW.utm, NEW.referrer, NEW.consented_at, NEW.submitted_at))
    EXECUTE FUNCTION note_entity();
CREATE TRIGGER note_deleted_links AFTER DELETE ON submissions
    REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION note_deleted_links();

CREATE TRIGGER access_link_detached BEFORE UPDATE OF generic_link_id, submission_id ON access_links
    FOR EACH ROW
    WHEN ((OLD.generic_link_id, OLD.submission_id) IS DISTINCT FROM (NEW.generic_link_id, NEW.submission_id))
    EXECUTE FUNCTION access_link_detached();
CREATE TRIGGER note_made AFTER INSERT ON access_links
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_entities();
CREATE TRIGGER note_deleted AFTER DELETE ON access_links
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_entities();
CREATE TRIGGER take_source BEFORE INSERT ON access_links FOR EACH ROW
    WHEN (NEW.submission_id IS NOT NULL) EXECUTE FUNCTION take_source();
CREATE TRIGGER note_changed AFTER UPDATE ON access_links FOR EACH ROW
    WHEN (ROW(OLD.generic_link_id, OLD.submission_id, OLD.email, OLD.max_views, OLD.expires_at, OLD.is_active, OLD.utm, OLD.referrer, OLD.updated_at)
        IS DISTINCT FROM ROW(NEW.generic_link_id, NEW.submission_id, NEW.email, NEW.max_views, NEW.expires_at, NEW.is_active, NEW.utm, NEW.referrer, NEW.updated_at))
    EXECUTE FUNCTION note_entity();
CREATE TRIGGER note_deleted_links AFTER DELETE ON access_links
    REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION note_deleted_links();
CREATE TRIGGER note_revoked AFTER UPDATE OF is_active ON access_links FOR EACH ROW
    WHEN (OLD.is_active AND NOT NEW.is_active) EXECUTE FUNCTION note_revoked();
CREATE TRIGGER note_revoked_deleted AFTER DELETE ON access_links
    REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION note_revoked_deleted();

CREATE TRIGGER note_revoked AFTER UPDATE OF is_active ON webhook_endpoints FOR EACH ROW
    WHEN (OLD.is_active AND NOT NEW.is_active) EXECUTE FUNCTION note_revoked();
CREATE TRIGGER note_revoked_deleted AFTER DELETE ON webhook_endpoints
    REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION note_revoked_deleted();

CREATE TRIGGER delete_user AFTER DELETE ON memberships FOR EACH ROW EXECUTE FUNCTION delete_user();
CREATE TRIGGER note_revoked_deleted AFTER DELETE ON memberships
    REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION note_revoked_members();

CREATE TRIGGER note_revoked_deleted AFTER DELETE ON invitations
    REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION note_revoked_deleted();

CREATE TRIGGER note_revoked_deleted AFTER DELETE ON shares
    REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION note_revoked_deleted();

INSERT INTO river_migration (line, version) SELECT 'main', generate_series(1, 8);
INSERT INTO entity_copy DEFAULT VALUES;
INSERT INTO copies (copy) VALUES (1);
INSERT INTO counting_copy DEFAULT VALUES;
INSERT INTO store_pulse (copy) VALUES (1);
INSERT INTO revocation_log (newest) VALUES ('');
INSERT INTO erasure_looks (copy) VALUES (1);
