-- +goose Up

-- Copies of Postgres's lead magnets and links (package ingest/mirror): of the rows of an id, that of
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
ORDER BY id
SETTINGS min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1,
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
ORDER BY id
SETTINGS min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1,
    fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS lodestone.access_links
(
    id              UUID,
    account_id      UUID,
    lead_magnet_id  UUID,
    generic_link_id Nullable(UUID),
    email           Nullable(String), -- only if that is switched on
    max_views       Nullable(Int32),
    expires_at      Nullable(DateTime64(3, 'UTC')),
    is_active       Bool,
    created_at      DateTime64(3, 'UTC'),
    updated_at      DateTime64(3, 'UTC'),
    version         UInt64,
    deleted         UInt8
)
ENGINE = ReplacingMergeTree(version, deleted)
ORDER BY id
SETTINGS min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1,
    fsync_after_insert = 1, fsync_part_directory = 1;

-- What people query, described in docs/sql.md. The names and the meaning of these columns stay.
CREATE VIEW IF NOT EXISTS analytics.lead_magnets
    DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
    account_id,
    id AS lead_magnet_id,
    title,
    description,
    is_active,
    toUInt32(file_version) AS magnet_version,
    toUInt32(page_count) AS page_count,
    created_at,
    updated_at
FROM lodestone.lead_magnets FINAL;

CREATE VIEW IF NOT EXISTS analytics.generic_links
    DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
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
FROM lodestone.generic_links FINAL;

CREATE VIEW IF NOT EXISTS analytics.access_links
    DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
    account_id,
    lead_magnet_id,
    generic_link_id,
    id AS access_link_id,
    email,
    toUInt32(max_views) AS max_views,
    expires_at,
    is_active,
    created_at,
    updated_at
FROM lodestone.access_links FINAL;

CREATE VIEW IF NOT EXISTS analytics.link_views
    DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
    account_id,
    lead_magnet_id,
    generic_link_id,
    event_id,
    referrer,
    url,
    if(ip_hash = toFixedString('', 16), NULL, lower(hex(ip_hash))) AS ip_hash,
    user_agent,
    multiIf(
        bot != '', 'bot',
        user_agent = '', 'unknown',
        match(user_agent, '(?i)ipad|tablet|kindle|silk/') OR (position(user_agent, 'Android') > 0 AND position(user_agent, 'Mobile') = 0), 'tablet',
        match(user_agent, '(?i)mobi|iphone|ipod'), 'mobile',
        match(user_agent, '(?i)windows|macintosh|x11|cros'), 'desktop',
        'other') AS device,
    bot,
    created_at,
    received_at
FROM lodestone.link_views;

CREATE VIEW IF NOT EXISTS analytics.sessions
    DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
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
    multiIf(
        rule != '', 'bot',
        agent = '', 'unknown',
        match(agent, '(?i)ipad|tablet|kindle|silk/') OR (position(agent, 'Android') > 0 AND position(agent, 'Mobile') = 0), 'tablet',
        match(agent, '(?i)mobi|iphone|ipod'), 'mobile',
        match(agent, '(?i)windows|macintosh|x11|cros'), 'desktop',
        'other') AS device,
    rule AS bot
FROM
(
    SELECT
        account_id,
        lead_magnet_id,
        access_link_id,
        if(session_id = toUUID('00000000-0000-0000-0000-000000000000'), event_id, session_id) AS session,
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
    GROUP BY account_id, lead_magnet_id, access_link_id, session
);

-- +goose Down
DROP VIEW analytics.sessions;
DROP VIEW analytics.link_views;
DROP VIEW analytics.access_links;
DROP VIEW analytics.generic_links;
DROP VIEW analytics.lead_magnets;
DROP TABLE lodestone.access_links;
DROP TABLE lodestone.generic_links;
DROP TABLE lodestone.lead_magnets;
