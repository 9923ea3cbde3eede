-- The schema of a ClickHouse server. What a release changes of it gets a migration of its own behind this one, whose number is above those of
-- checkouts before the first release.

-- +goose Up

-- One row an event. The offsets in each row are the truth about what is stored.
-- A zero UUID stands for none, a zero ip_hash for withheld.
CREATE TABLE IF NOT EXISTS lodestone.events
(
    account_id      UUID,
    lead_magnet_id  UUID,
    generic_link_id UUID,
    access_link_id  UUID,
    session_id      UUID,
    event_id        UUID,
    event_type      Enum8('page_viewed' = 1, 'download_started' = 2, 'download_completed' = 3),
    event_data      String CODEC(ZSTD(1)),
    magnet_version  UInt32,
    page            UInt32,
    duration_ms     UInt32,
    ip_hash         FixedString(16),
    user_agent      LowCardinality(String),
    -- The consumer writes the names of the browser and the operating system, so that later lists of them do not change what is stored. Two columns
    -- are stored for the four that are read, since each costs the server some processor time for a row. '' is not known.
    agent_names     LowCardinality(String), -- as 'Chrome/macOS'
    origin          LowCardinality(String), -- as 'DE/de'
    bot             LowCardinality(String),
    created_at      DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    received_at     DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    kafka_topic_id  UUID,
    kafka_partition Int32,
    kafka_offset    Int64 CODEC(Delta, ZSTD(1)),

    -- The fence against a writer that was stopped for long between being allowed to insert and
    -- inserting: the server compares its own clock with the end of the time that the writer had.
    -- Nothing of it is stored but zeros. Inserts that do not name it are not bounded.
    insert_before   DateTime64(3, 'UTC') EPHEMERAL toDateTime64('2200-01-01', 3, 'UTC'),
    in_time         UInt8 MATERIALIZED throwIf(now64(3) >= insert_before, 'the insert came too late'),

    -- When the server took a row, by its own clock: readers of what is new go by it, since an event may
    -- have waited in a spool or in Kafka long after it was received. The time is that of the beginning of
    -- the insert, so rows can appear a little behind one another; query/scope tells how far back it is settled.
    stored_at       DateTime64(3, 'UTC') MATERIALIZED now64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),

    -- The function lodestoneDevice, written out. It is evaluated when it is read: the dictionary of user agents is short.
    device          LowCardinality(String) ALIAS multiIf(
        bot != '', 'bot',
        user_agent = '', 'unknown',
        match(user_agent, '(?i)hbbtv|smart[-_ ]?tv|google ?tv|android ?tv|apple ?tv|[^a-z]tv[^a-z]|bravia|[^a-z]aft[a-z0-9]+[^a-z0-9]|netcast|web0s|vidaa|[^a-z]viera|roku|crkey|large screen|nettv'), 'other',
        match(user_agent, '(?i)ipad|tablet($|[^ ]| ($|[^p]))|kindle|silk/') OR (position(user_agent, 'Android') > 0 AND position(user_agent, 'Mobile') = 0), 'tablet',
        match(user_agent, '(?i)mobi|iphone|ipod'), 'mobile',
        match(user_agent, '(?i)windows|macintosh|x11|cros'), 'desktop',
        'other'),
    browser         LowCardinality(String) ALIAS substringIndex(agent_names, '/', 1),
    os              LowCardinality(String) ALIAS substringIndex(agent_names, '/', -1),
    country         LowCardinality(String) ALIAS substringIndex(origin, '/', 1),
    language        LowCardinality(String) ALIAS substringIndex(origin, '/', -1),

    INDEX access_link access_link_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX lead_magnet lead_magnet_id TYPE bloom_filter(0.01) GRANULARITY 1,
    -- Events are stored in about the order they happened in, so a granule spans little of this.
    INDEX stored stored_at TYPE minmax GRANULARITY 1,

    -- Projections are in the same part as the rows, so a replay can neither miss nor double anything. What is stored of a partition of
    -- the log:
    PROJECTION by_offset
    (
        SELECT kafka_topic_id, kafka_partition, kafka_offset, account_id, access_link_id
        ORDER BY kafka_topic_id, kafka_partition, kafka_offset
    ),
    -- The events of an access link side by side, in the order of time, with all that a list can be filtered by (query/eventlist; measured in
    -- docs/storage.md).
    PROJECTION by_link
    (
        SELECT account_id, access_link_id, created_at, stored_at, lead_magnet_id, event_type, bot
        ORDER BY account_id, access_link_id, created_at
    ),
    -- A number for each day and kind of event of a lead magnet.
    PROJECTION by_day
    (
        SELECT account_id, lead_magnet_id, event_type, bot = '', toDate(created_at), count()
        GROUP BY account_id, lead_magnet_id, event_type, bot = '', toDate(created_at)
    ),
    -- One row is a session, a kind of event and a quarter of an hour, in the order of access links: what reports read (docs/decisions/006-reports.md).
    -- Quarters of an hour serve the time zones with :30 and :45.
    PROJECTION quarters
    (
        SELECT
            account_id, access_link_id, lead_magnet_id,
            if(session_id = toUUID('00000000-0000-0000-0000-000000000000'), event_id, session_id),
            event_type, bot = '',
            toStartOfFifteenMinutes(created_at), generic_link_id, magnet_version, user_agent, agent_names, origin,
            min(created_at), max(created_at), count(), sum(duration_ms), groupUniqArray(page)
        GROUP BY
            account_id, access_link_id, lead_magnet_id,
            if(session_id = toUUID('00000000-0000-0000-0000-000000000000'), event_id, session_id),
            event_type, bot = '',
            toStartOfFifteenMinutes(created_at), generic_link_id, magnet_version, user_agent, agent_names, origin
    )
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(created_at)
-- An event's place in the log ends the order: it makes the order of a list total, and with the whole
-- of it in the key a list stops reading at its last row. The index itself needs only the first two.
PRIMARY KEY (account_id, created_at)
ORDER BY (account_id, created_at, kafka_topic_id, kafka_partition, kafka_offset)
-- A query looks into every part of the months that it asks for, and each costs about a millisecond. Months that
-- nothing is added to any more become one part each.
-- A page of what is rare reads single granules here and there, and a block is decompressed whole: blocks of 8 KiB and not of 64 take a fifth to a
-- third of the time away, and give an event one and a half bytes more (docs/storage.md).
SETTINGS
    index_granularity = 1024,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_age_to_force_merge_seconds = 43200,
    min_age_to_force_merge_on_partition_only = 1,
    min_compress_block_size = 8192;

-- One row a view of a generic link's landing page.
CREATE TABLE IF NOT EXISTS lodestone.link_views
(
    account_id      UUID,
    lead_magnet_id  UUID,
    generic_link_id UUID,
    event_id        UUID,
    referrer        String CODEC(ZSTD(1)),
    url             String CODEC(ZSTD(1)),
    ip_hash         FixedString(16),
    user_agent      LowCardinality(String),
    agent_names     LowCardinality(String), -- as 'Chrome/macOS'
    origin          LowCardinality(String), -- as 'DE/de'
    bot             LowCardinality(String),
    created_at      DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    received_at     DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    kafka_topic_id  UUID,
    kafka_partition Int32,
    kafka_offset    Int64 CODEC(Delta, ZSTD(1)),
    insert_before   DateTime64(3, 'UTC') EPHEMERAL toDateTime64('2200-01-01', 3, 'UTC'),
    in_time         UInt8 MATERIALIZED throwIf(now64(3) >= insert_before, 'the insert came too late'),

    device          LowCardinality(String) ALIAS multiIf(
        bot != '', 'bot',
        user_agent = '', 'unknown',
        match(user_agent, '(?i)hbbtv|smart[-_ ]?tv|google ?tv|android ?tv|apple ?tv|[^a-z]tv[^a-z]|bravia|[^a-z]aft[a-z0-9]+[^a-z0-9]|netcast|web0s|vidaa|[^a-z]viera|roku|crkey|large screen|nettv'), 'other',
        match(user_agent, '(?i)ipad|tablet($|[^ ]| ($|[^p]))|kindle|silk/') OR (position(user_agent, 'Android') > 0 AND position(user_agent, 'Mobile') = 0), 'tablet',
        match(user_agent, '(?i)mobi|iphone|ipod'), 'mobile',
        match(user_agent, '(?i)windows|macintosh|x11|cros'), 'desktop',
        'other'),
    -- The source of a view; empty: none.
    utm_source      LowCardinality(String) MATERIALIZED toValidUTF8(decodeURLFormComponent(extractURLParameter(url, 'utm_source'))),
    utm_medium      LowCardinality(String) MATERIALIZED toValidUTF8(decodeURLFormComponent(extractURLParameter(url, 'utm_medium'))),
    utm_campaign    LowCardinality(String) MATERIALIZED toValidUTF8(decodeURLFormComponent(extractURLParameter(url, 'utm_campaign'))),
    utm_content     LowCardinality(String) MATERIALIZED toValidUTF8(decodeURLFormComponent(extractURLParameter(url, 'utm_content'))),
    utm_term        LowCardinality(String) MATERIALIZED toValidUTF8(decodeURLFormComponent(extractURLParameter(url, 'utm_term'))),
    referrer_host   LowCardinality(String) MATERIALIZED lower(domain(referrer)),
    browser         LowCardinality(String) ALIAS substringIndex(agent_names, '/', 1),
    os              LowCardinality(String) ALIAS substringIndex(agent_names, '/', -1),
    country         LowCardinality(String) ALIAS substringIndex(origin, '/', 1),
    language        LowCardinality(String) ALIAS substringIndex(origin, '/', -1),

    PROJECTION by_offset
    (
        SELECT kafka_topic_id, kafka_partition, kafka_offset, account_id, generic_link_id
        ORDER BY kafka_topic_id, kafka_partition, kafka_offset
    )
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(created_at)
ORDER BY (account_id, generic_link_id, created_at, event_id)
SETTINGS
    index_granularity = 1024,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_age_to_force_merge_seconds = 43200,
    min_age_to_force_merge_on_partition_only = 1;

-- Copies of Postgres's lead magnets, links and submissions (package ingest/mirror): of the rows of an id, that of
-- the highest version counts; one that is deleted stands for none. Old versions leave the disk within
-- hours, since some hold what its owner deleted.
CREATE TABLE IF NOT EXISTS lodestone.lead_magnets
(
    id           UUID,
    account_id   UUID,
    title        String,
    description  Nullable(String),
    is_active    Bool,
    file_version Int32,
    page_count   Int32,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    version      UInt64,
    deleted      UInt8
)
ENGINE = ReplacingMergeTree(version, deleted)
ORDER BY (account_id, id)
SETTINGS index_granularity = 128, min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1,
    fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS lodestone.generic_links
(
    id                   UUID,
    account_id           UUID,
    lead_magnet_id       UUID,
    slug                 String,
    title                Nullable(String),
    active               Bool,
    require_verification Bool,
    submission_count     Int64,
    created_at           DateTime64(3, 'UTC'),
    updated_at           DateTime64(3, 'UTC'),
    version              UInt64,
    deleted              UInt8
)
ENGINE = ReplacingMergeTree(version, deleted)
ORDER BY (account_id, id)
SETTINGS index_granularity = 128, min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1,
    fsync_after_insert = 1, fsync_part_directory = 1;

-- The source of a reader is that of the submission that made the access link. Reports count people by person_id.
CREATE TABLE IF NOT EXISTS lodestone.access_links
(
    id              UUID,
    account_id      UUID,
    lead_magnet_id  UUID,
    generic_link_id Nullable(UUID),
    submission_id   Nullable(UUID),
    email           Nullable(String), -- only if that is switched on
    email_domain    String,
    person_id       UUID,
    source          LowCardinality(String), -- how the URL was handed out; empty: not copied yet
    utm_source      String,
    utm_medium      String,
    utm_campaign    String,
    utm_content     String,
    utm_term        String,
    referrer        String,
    max_views       Nullable(Int32),
    expires_at      Nullable(DateTime64(3, 'UTC')),
    is_active       Bool,
    created_at      DateTime64(3, 'UTC'),
    updated_at      DateTime64(3, 'UTC'),
    version         UInt64,
    deleted         UInt8,
    referrer_host   String ALIAS lower(domain(referrer))
)
ENGINE = ReplacingMergeTree(version, deleted)
ORDER BY (account_id, id)
SETTINGS index_granularity = 1024, min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1,
    fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS lodestone.submissions
(
    id              UUID,
    account_id      UUID,
    lead_magnet_id  UUID,
    generic_link_id UUID,
    email           Nullable(String), -- only if that is switched on
    email_domain    String,
    person_id       UUID,
    verification_required Bool,
    verified        Bool,
    utm_source      String,
    utm_medium      String,
    utm_campaign    String,
    utm_content     String,
    utm_term        String,
    referrer        String,
    submitted_at    DateTime64(3, 'UTC'),
    verified_at     Nullable(DateTime64(3, 'UTC')),
    consented_at    Nullable(DateTime64(3, 'UTC')),
    version         UInt64,
    deleted         UInt8,
    referrer_host   String ALIAS lower(domain(referrer)),
    -- When it counted as verified: at once, if no verification is needed.
    confirmed_at    Nullable(DateTime64(3, 'UTC')) ALIAS coalesce(verified_at, if(verified OR NOT verification_required, submitted_at, NULL))
)
ENGINE = ReplacingMergeTree(version, deleted)
ORDER BY (account_id, id)
SETTINGS index_granularity = 1024, min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1,
    fsync_after_insert = 1, fsync_part_directory = 1;

-- How many pages each version of a document has. It stays when the lead magnet is deleted, as its events do.
CREATE TABLE IF NOT EXISTS lodestone.magnet_versions
(
    account_id     UUID,
    lead_magnet_id UUID,
    magnet_version UInt32,
    page_count     UInt32,
    version        UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (account_id, lead_magnet_id, magnet_version)
SETTINGS index_granularity = 128, fsync_after_insert = 1, fsync_part_directory = 1;

-- What left with the months that --retention-months let go (package ingest/retention): how often a link
-- was viewed, so that its counter in Postgres does not fall. Steps that did not come to their end do not count.
CREATE TABLE IF NOT EXISTS lodestone.expired_views
(
    account_id UUID,
    link_id    UUID, -- of an access link or a generic link
    step       UInt32,
    views      UInt64,
    first      DateTime64(3, 'UTC'),
    last       DateTime64(3, 'UTC')
)
ENGINE = MergeTree
ORDER BY (account_id, link_id, step)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1;

-- How far each step is: its views are written down, then its month is dropped, then it is done.
CREATE TABLE IF NOT EXISTS lodestone.retention_steps
(
    step  UInt32,
    month UInt32, -- as 202611
    phase Enum8('writing' = 1, 'dropping' = 2, 'done' = 3),
    at    DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
)
ENGINE = MergeTree
ORDER BY (step, phase)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- The id of this server among the shards that store events together: one row, written by `lodestone migrate`. It is read on every
-- connection that stores events, so that no server is taken for another.
CREATE TABLE IF NOT EXISTS lodestone.shard
(
    id       UInt16,
    named_at DateTime('UTC') DEFAULT now('UTC')
)
ENGINE = MergeTree
ORDER BY id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- The number that Postgres has in store_pulse: see there.
CREATE TABLE IF NOT EXISTS lodestone.pulse (
    installation UUID,
    number       UInt64,
    beat_at      DateTime64(3, 'UTC')
) ENGINE = ReplacingMergeTree(number) ORDER BY installation;

-- The views of the database analytics are described in docs/sql.md. The names and the meaning of their columns stay.
--
-- An SQL user of one account learns nothing of others: the account stands in the innermost SELECT
-- of every view, as PREWHERE. ClickHouse evaluates PREWHERE before every other condition. The
-- condition of a row policy on a view, in contrast, is evaluated with those of the user in any
-- order, and after them if they are on keys of an aggregation.
--
-- The accounts of a user are those that the row policies on the views name. The server evaluates
-- the subquery before it makes the plan: the user of all accounts has no condition, and the others
-- have one on the primary key.

-- The accounts that the user who asks may see, by the name of the view; an empty name means every
-- view. A view without a row is not limited for this user. Unlike currentUser(), a client of the
-- native protocol cannot forge authenticatedUser().
CREATE VIEW IF NOT EXISTS lodestone.sql_accounts
    DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
    table AS view,
    groupUniqArrayArray(arrayMap(
        id -> toUUID(id),
        extractAll(select_filter, '[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}'))) AS accounts
FROM system.row_policies
WHERE database = 'analytics' AND (has(apply_to_list, authenticatedUser()) OR (apply_to_all AND NOT has(apply_to_except, authenticatedUser())))
GROUP BY table;

CREATE VIEW IF NOT EXISTS analytics.events
    DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS WITH (SELECT groupArrayArray(accounts) FROM lodestone.sql_accounts WHERE view IN ('events', '')) AS accounts
SELECT
    account_id,
    lead_magnet_id,
    if(generic_link_id = toUUID('00000000-0000-0000-0000-000000000000'), NULL, generic_link_id) AS generic_link_id,
    access_link_id,
    if(session_id = toUUID('00000000-0000-0000-0000-000000000000'), NULL, session_id) AS session_id,
    event_id,
    event_type,
    event_data,
    magnet_version,
    page,
    duration_ms,
    if(ip_hash = toFixedString('', 16), NULL, lower(hex(ip_hash))) AS ip_hash,
    user_agent,
    bot,
    created_at,
    received_at,
    if(empty(accounts), kafka_topic_id, toUUID('00000000-0000-0000-0000-000000000000')) AS kafka_topic_id,
    if(empty(accounts), kafka_partition, toInt32(0)) AS kafka_partition,
    if(empty(accounts), kafka_offset, toInt64(0)) AS kafka_offset,
    browser,
    os,
    country,
    language,
    device
FROM lodestone.events
PREWHERE empty(accounts) OR has(accounts, account_id);

CREATE VIEW IF NOT EXISTS analytics.link_views
    DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS WITH (SELECT groupArrayArray(accounts) FROM lodestone.sql_accounts WHERE view IN ('link_views', '')) AS accounts
SELECT
    account_id,
    lead_magnet_id,
    generic_link_id,
    event_id,
    referrer,
    url,
    if(ip_hash = toFixedString('', 16), NULL, lower(hex(ip_hash))) AS ip_hash,
    user_agent,
    device,
    bot,
    created_at,
    received_at,
    browser,
    os,
    country,
    language,
    referrer_host,
    utm_source,
    utm_medium,
    utm_campaign,
    utm_content,
    utm_term
FROM lodestone.link_views
PREWHERE empty(accounts) OR has(accounts, account_id);

CREATE VIEW IF NOT EXISTS analytics.access_links
    DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS WITH (SELECT groupArrayArray(accounts) FROM lodestone.sql_accounts WHERE view IN ('access_links', '')) AS accounts
SELECT
    account_id,
    lead_magnet_id,
    generic_link_id,
    id AS access_link_id,
    email,
    toUInt32(max_views) AS max_views,
    expires_at,
    is_active,
    created_at,
    updated_at,
    source,
    submission_id,
    if(email IS NULL, NULL, email_domain) AS email_domain,
    if(email IS NULL, NULL, person_id) AS person_id,
    referrer_host,
    utm_source,
    utm_medium,
    utm_campaign,
    utm_content,
    utm_term
FROM lodestone.access_links FINAL
PREWHERE empty(accounts) OR has(accounts, account_id);

CREATE VIEW IF NOT EXISTS analytics.submissions
    DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS WITH (SELECT groupArrayArray(accounts) FROM lodestone.sql_accounts WHERE view IN ('submissions', '')) AS accounts
SELECT
    account_id,
    lead_magnet_id,
    generic_link_id,
    id AS submission_id,
    multiIf(
        (account_id, id) IN (
            SELECT account_id, assumeNotNull(submission_id)
            FROM lodestone.access_links FINAL
            PREWHERE empty(accounts) OR has(accounts, account_id)
            WHERE submission_id IS NOT NULL AND (account_id, id) IN (
                SELECT account_id, access_link_id
                FROM lodestone.events
                PREWHERE empty(accounts) OR has(accounts, account_id)
                WHERE event_type = 'page_viewed' AND bot = ''
                GROUP BY account_id, access_link_id)),
        'viewed',
        confirmed_at IS NULL, 'awaiting_verification',
        'ready') AS state,
    email,
    if(email IS NULL, NULL, email_domain) AS email_domain,
    if(email IS NULL, NULL, person_id) AS person_id,
    referrer_host,
    utm_source,
    utm_medium,
    utm_campaign,
    utm_content,
    utm_term,
    submitted_at,
    consented_at,
    verified_at,
    confirmed_at
FROM lodestone.submissions FINAL
PREWHERE empty(accounts) OR has(accounts, account_id);

CREATE VIEW IF NOT EXISTS analytics.sessions
    DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS WITH (SELECT groupArrayArray(accounts) FROM lodestone.sql_accounts WHERE view IN ('sessions', '')) AS accounts
SELECT
    account_id,
    lead_magnet_id,
    if(link = toUUID('00000000-0000-0000-0000-000000000000'), NULL, link) AS generic_link_id,
    access_link_id,
    session AS session_id,
    version AS magnet_version,
    started_at,
    last_event_at,
    page_views,
    pages,
    last_page,
    reading_ms,
    downloads_started,
    downloads,
    if(hash = toFixedString('', 16), NULL, lower(hex(hash))) AS ip_hash,
    agent AS user_agent,
    lodestoneDevice(agent, rule) AS device,
    rule AS bot
FROM
(
    SELECT
        account_id,
        lead_magnet_id,
        access_link_id,
        lodestoneSession(session_id, event_id) AS session,
        max(generic_link_id) AS link,
        max(magnet_version) AS version,
        min(created_at) AS started_at,
        max(created_at) AS last_event_at,
        countIf(event_type = 'page_viewed') AS page_views,
        uniqExactIf(page, event_type = 'page_viewed' AND page > 0) AS pages,
        maxIf(page, event_type = 'page_viewed') AS last_page,
        sumIf(toUInt64(duration_ms), event_type = 'page_viewed') AS reading_ms,
        countIf(event_type = 'download_started') AS downloads_started,
        countIf(event_type = 'download_completed') AS downloads,
        max(ip_hash) AS hash,
        max(user_agent) AS agent,
        max(bot) AS rule
    FROM lodestone.events
    PREWHERE empty(accounts) OR has(accounts, account_id)
    GROUP BY account_id, lead_magnet_id, access_link_id, session
);

CREATE VIEW IF NOT EXISTS analytics.readers
    DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS WITH (SELECT groupArrayArray(accounts) FROM lodestone.sql_accounts WHERE view IN ('readers', '')) AS accounts
SELECT
    r.account_id AS account_id,
    r.lead_magnet_id AS lead_magnet_id,
    if(r.link = toUUID('00000000-0000-0000-0000-000000000000'), NULL, r.link) AS generic_link_id,
    r.access_link_id AS access_link_id,
    l.email AS email,
    if(l.email IS NULL, NULL, l.email_domain) AS email_domain,
    if(l.email IS NULL, NULL, l.person_id) AS person_id,
    ifNull(l.referrer_host, '') AS referrer_host,
    ifNull(l.utm_source, '') AS utm_source,
    ifNull(l.utm_medium, '') AS utm_medium,
    ifNull(l.utm_campaign, '') AS utm_campaign,
    ifNull(l.utm_content, '') AS utm_content,
    ifNull(l.utm_term, '') AS utm_term,
    r.version AS magnet_version,
    r.first_read_at AS first_read_at,
    r.last_read_at AS last_read_at,
    r.session_count AS sessions,
    r.page_views AS page_views,
    r.pages AS pages,
    r.last_page AS last_page,
    r.reading_ms AS reading_ms,
    r.downloads AS downloads,
    toBool(notEmpty(r.last_pages)) AS finished,
    toBool(arrayExists(
        last -> lodestoneAttentive(
            arrayCount(
                (key, ms) -> bitShiftRight(key, 32) = bitShiftRight(last, 32) AND lodestoneHasPage(toUInt32(last), toUInt32(key)) AND lodestoneAttends(ms),
                r.times.1, r.times.2),
            toUInt32(last)),
        r.last_pages)) AS attentive,
    if(
        empty(r.last_pages),
        NULL,
        arrayMin(arrayMap(last -> r.first_views.2[indexOf(r.first_views.1, last)], r.last_pages))) AS finished_at
FROM
(
    SELECT
        p.*,
        arrayFilter(
            key -> lodestoneFinishes(bitShiftRight(key, 32), toUInt32(key), v.page_counts[bitShiftRight(key, 32)]),
            p.times.1) AS last_pages
    FROM
    (
        SELECT
            account_id,
            lead_magnet_id,
            access_link_id,
            max(generic_link_id) AS link,
            maxIf(magnet_version, event_type = 'page_viewed') AS version,
            minIf(created_at, event_type = 'page_viewed') AS first_read_at,
            maxIf(created_at, event_type = 'page_viewed') AS last_read_at,
            uniqExactIf(lodestoneSession(session_id, event_id), event_type = 'page_viewed') AS session_count,
            countIf(event_type = 'page_viewed') AS page_views,
            uniqExactIf(page, event_type = 'page_viewed' AND page > 0) AS pages,
            maxIf(page, event_type = 'page_viewed') AS last_page,
            sumIf(toUInt64(duration_ms), event_type = 'page_viewed') AS reading_ms,
            countIf(event_type = 'download_completed') AS downloads,
            sumMapIf([bitShiftLeft(toUInt64(magnet_version), 32) + page], [toUInt64(duration_ms)], [toUInt64(1)], event_type = 'page_viewed') AS times,
            minMapIf([bitShiftLeft(toUInt64(magnet_version), 32) + page], [created_at], event_type = 'page_viewed') AS first_views
        FROM lodestone.events
        PREWHERE empty(accounts) OR has(accounts, account_id)
        WHERE bot = ''
        GROUP BY account_id, lead_magnet_id, access_link_id
        HAVING page_views > 0
    ) AS p
    LEFT ANY JOIN
    (
        SELECT account_id, lead_magnet_id, CAST((groupArray(magnet_version), groupArray(page_count)), 'Map(UInt32, UInt32)') AS page_counts
        FROM lodestone.magnet_versions FINAL
        PREWHERE empty(accounts) OR has(accounts, account_id)
        GROUP BY account_id, lead_magnet_id
    ) AS v USING (account_id, lead_magnet_id)
) AS r
LEFT ANY JOIN
(
    SELECT account_id, id AS access_link_id, email, email_domain, person_id, referrer_host, utm_source, utm_medium, utm_campaign, utm_content, utm_term
    FROM lodestone.access_links FINAL
    PREWHERE empty(accounts) OR has(accounts, account_id)
) AS l USING (account_id, access_link_id);

CREATE VIEW IF NOT EXISTS analytics.pages
    DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS WITH (SELECT groupArrayArray(accounts) FROM lodestone.sql_accounts WHERE view IN ('pages', '')) AS accounts
SELECT
    p.account_id AS account_id,
    p.lead_magnet_id AS lead_magnet_id,
    p.magnet_version AS magnet_version,
    ifNull(v.page_count, 0) AS page_count,
    p.page AS page,
    p.views AS views,
    p.readers AS readers,
    sum(p.stopped) OVER (PARTITION BY p.account_id, p.lead_magnet_id, p.magnet_version ORDER BY p.page DESC) AS reached,
    p.stopped AS stopped,
    p.reread AS reread,
    if(empty(p.times), NULL, round(p.times[1], 3)) AS median_ms,
    if(empty(p.times), NULL, round(p.times[2], 3)) AS p90_ms
FROM
(
    SELECT
        account_id,
        lead_magnet_id,
        magnet_version,
        page,
        sum(viewed) AS views,
        countIf(viewed > 0) AS readers,
        countIf(viewed > 0 AND page = furthest) AS stopped,
        countIf(viewed > 1) AS reread,
        groupArrayArray(quantiles) AS times
    FROM
    (
        SELECT
            account_id,
            lead_magnet_id,
            magnet_version,
            arrayJoin(arrayConcat(
                arrayZip(by_page.1, by_page.2),
                arrayMap(n -> (toUInt32(n), toUInt64(0)), range(1, least(greatest(furthest, length), 10000) + 1)))) AS row,
            row.1 AS page,
            row.2 AS viewed,
            furthest,
            CAST([], 'Array(Float64)') AS quantiles
        FROM
        (
            SELECT e.*, ifNull(v.page_count, 0) AS length
            FROM
            (
                SELECT
                    account_id,
                    lead_magnet_id,
                    magnet_version,
                    access_link_id,
                    sumMap([page], [toUInt64(1)]) AS by_page,
                    max(page) AS furthest
                FROM lodestone.events
                PREWHERE empty(accounts) OR has(accounts, account_id)
                WHERE event_type = 'page_viewed' AND bot = '' AND page > 0
                GROUP BY account_id, lead_magnet_id, magnet_version, access_link_id
            ) AS e
            LEFT ANY JOIN
            (
                SELECT account_id, lead_magnet_id, magnet_version, page_count
                FROM lodestone.magnet_versions FINAL
                PREWHERE empty(accounts) OR has(accounts, account_id)
                WHERE magnet_version > 0
            ) AS v USING (account_id, lead_magnet_id, magnet_version)
        )
        UNION ALL
        SELECT
            account_id,
            lead_magnet_id,
            magnet_version,
            (page, toUInt64(0)) AS row,
            page,
            toUInt64(0) AS viewed,
            toUInt32(0) AS furthest,
            quantilesExactInclusive(0.5, 0.9)(lodestonePageTime(duration_ms)) AS quantiles
        FROM lodestone.events
        PREWHERE empty(accounts) OR has(accounts, account_id)
        WHERE event_type = 'page_viewed' AND bot = '' AND page > 0 AND duration_ms > 0
        GROUP BY account_id, lead_magnet_id, magnet_version, page
    )
    GROUP BY account_id, lead_magnet_id, magnet_version, page
) AS p
LEFT ANY JOIN
(
    SELECT account_id, lead_magnet_id, magnet_version, page_count
    FROM lodestone.magnet_versions FINAL
    PREWHERE empty(accounts) OR has(accounts, account_id)
) AS v USING (account_id, lead_magnet_id, magnet_version);

CREATE VIEW IF NOT EXISTS analytics.lead_magnets
    DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS WITH (SELECT groupArrayArray(accounts) FROM lodestone.sql_accounts WHERE view IN ('lead_magnets', '')) AS accounts
SELECT
    account_id,
    id AS lead_magnet_id,
    title,
    description,
    is_active,
    toUInt32(file_version) AS magnet_version,
    toUInt32(page_count) AS page_count,
    created_at,
    updated_at
FROM lodestone.lead_magnets FINAL
PREWHERE empty(accounts) OR has(accounts, account_id);

CREATE VIEW IF NOT EXISTS analytics.generic_links
    DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS WITH (SELECT groupArrayArray(accounts) FROM lodestone.sql_accounts WHERE view IN ('generic_links', '')) AS accounts
SELECT
    account_id,
    lead_magnet_id,
    id AS generic_link_id,
    slug,
    title,
    active AS is_active,
    require_verification,
    toUInt64(submission_count) AS submissions,
    created_at,
    updated_at
FROM lodestone.generic_links FINAL
PREWHERE empty(accounts) OR has(accounts, account_id);
