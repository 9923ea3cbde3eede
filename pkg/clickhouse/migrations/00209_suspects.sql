-- Sessions that a rule suspects of being a program's (docs/bots.md).

-- +goose Up
-- Copies of Postgres's, as of the other tables of package ingest/mirror: the id is that of the session.
CREATE TABLE IF NOT EXISTS lodestone.suspects
(
    id             UUID,
    account_id     UUID,
    access_link_id UUID,
    rule           LowCardinality(String),
    started_at     DateTime64(3, 'UTC'),
    version        UInt64,
    deleted        UInt8
)
ENGINE = ReplacingMergeTree(version, deleted)
ORDER BY (account_id, id)
SETTINGS index_granularity = 1024, min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1,
    fsync_after_insert = 1, fsync_part_directory = 1;

-- The rule that suspects who viewed a landing page: of the rules, only that of the network can.
ALTER TABLE lodestone.link_views ADD COLUMN IF NOT EXISTS suspect LowCardinality(String) AFTER bot;

CREATE OR REPLACE VIEW analytics.link_views
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
    utm_term,
    suspect
FROM lodestone.link_views
PREWHERE empty(accounts) OR has(accounts, account_id);

CREATE VIEW IF NOT EXISTS analytics.suspects
    DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS WITH (SELECT groupArrayArray(accounts) FROM lodestone.sql_accounts WHERE view IN ('suspects', '')) AS accounts
SELECT
    account_id,
    id AS session_id,
    access_link_id,
    rule,
    started_at
FROM lodestone.suspects FINAL
PREWHERE empty(accounts) OR has(accounts, account_id);

CREATE OR REPLACE VIEW analytics.sessions
    DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS WITH (SELECT groupArrayArray(accounts) FROM lodestone.sql_accounts WHERE view IN ('sessions', '')) AS accounts
SELECT
    s.account_id AS account_id,
    s.lead_magnet_id AS lead_magnet_id,
    if(s.link = toUUID('00000000-0000-0000-0000-000000000000'), NULL, s.link) AS generic_link_id,
    s.access_link_id AS access_link_id,
    s.session AS session_id,
    s.version AS magnet_version,
    s.started_at AS started_at,
    s.last_event_at AS last_event_at,
    s.page_views AS page_views,
    s.pages AS pages,
    s.last_page AS last_page,
    s.reading_ms AS reading_ms,
    s.downloads_started AS downloads_started,
    s.downloads AS downloads,
    if(s.hash = toFixedString('', 16), NULL, lower(hex(s.hash))) AS ip_hash,
    s.agent AS user_agent,
    lodestoneDevice(s.agent, s.bot_rule) AS device,
    s.bot_rule AS bot,
    ifNull(j.rule, '') AS suspect
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
        max(bot) AS bot_rule
    FROM lodestone.events
    PREWHERE empty(accounts) OR has(accounts, account_id)
    GROUP BY account_id, lead_magnet_id, access_link_id, session
) AS s
LEFT ANY JOIN
(
    SELECT account_id, id AS session, rule
    FROM lodestone.suspects FINAL
    PREWHERE empty(accounts) OR has(accounts, account_id)
) AS j USING (account_id, session);
