-- What reports count by (query/report): where readers and visitors came from, on which device, and which links are one
-- person's. Adding columns changes what a table is, not its rows, so consumers go on meanwhile; rows that are stored
-- already have what can be derived from them.

-- +goose Up

-- The kind of device is derived when it is read: the dictionary of user agents is short.
ALTER TABLE lodestone.events ADD COLUMN IF NOT EXISTS device LowCardinality(String) ALIAS multiIf(
    bot != '', 'bot',
    user_agent = '', 'unknown',
    match(user_agent, '(?i)ipad|tablet|kindle|silk/') OR (position(user_agent, 'Android') > 0 AND position(user_agent, 'Mobile') = 0), 'tablet',
    match(user_agent, '(?i)mobi|iphone|ipod'), 'mobile',
    match(user_agent, '(?i)windows|macintosh|x11|cros'), 'desktop',
    'other');
ALTER TABLE lodestone.link_views ADD COLUMN IF NOT EXISTS device LowCardinality(String) ALIAS multiIf(
    bot != '', 'bot',
    user_agent = '', 'unknown',
    match(user_agent, '(?i)ipad|tablet|kindle|silk/') OR (position(user_agent, 'Android') > 0 AND position(user_agent, 'Mobile') = 0), 'tablet',
    match(user_agent, '(?i)mobi|iphone|ipod'), 'mobile',
    match(user_agent, '(?i)windows|macintosh|x11|cros'), 'desktop',
    'other');

-- The source of a view of a landing page; empty: none.
ALTER TABLE lodestone.link_views
    ADD COLUMN IF NOT EXISTS utm_source LowCardinality(String) MATERIALIZED decodeURLFormComponent(extractURLParameter(url, 'utm_source')),
    ADD COLUMN IF NOT EXISTS utm_medium LowCardinality(String) MATERIALIZED decodeURLFormComponent(extractURLParameter(url, 'utm_medium')),
    ADD COLUMN IF NOT EXISTS utm_campaign LowCardinality(String) MATERIALIZED decodeURLFormComponent(extractURLParameter(url, 'utm_campaign')),
    ADD COLUMN IF NOT EXISTS utm_content LowCardinality(String) MATERIALIZED decodeURLFormComponent(extractURLParameter(url, 'utm_content')),
    ADD COLUMN IF NOT EXISTS utm_term LowCardinality(String) MATERIALIZED decodeURLFormComponent(extractURLParameter(url, 'utm_term')),
    ADD COLUMN IF NOT EXISTS referrer_host LowCardinality(String) MATERIALIZED lower(domain(referrer));

-- The source of a reader is that of the submission that made the access link.
ALTER TABLE lodestone.access_links
    ADD COLUMN IF NOT EXISTS submission_id Nullable(UUID) AFTER generic_link_id,
    ADD COLUMN IF NOT EXISTS email_domain String AFTER email,
    ADD COLUMN IF NOT EXISTS person_id UUID AFTER email_domain,
    ADD COLUMN IF NOT EXISTS utm_source String AFTER source,
    ADD COLUMN IF NOT EXISTS utm_medium String AFTER utm_source,
    ADD COLUMN IF NOT EXISTS utm_campaign String AFTER utm_medium,
    ADD COLUMN IF NOT EXISTS utm_content String AFTER utm_campaign,
    ADD COLUMN IF NOT EXISTS utm_term String AFTER utm_content,
    ADD COLUMN IF NOT EXISTS referrer String AFTER utm_term,
    ADD COLUMN IF NOT EXISTS referrer_host String ALIAS lower(domain(referrer));

-- A copy, as those of 00003_analytics.sql.
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
ORDER BY id
SETTINGS min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1,
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
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- +goose Down
DROP TABLE lodestone.magnet_versions;
DROP TABLE lodestone.submissions;
ALTER TABLE lodestone.access_links DROP COLUMN referrer_host;
ALTER TABLE lodestone.access_links DROP COLUMN referrer, DROP COLUMN utm_term, DROP COLUMN utm_content, DROP COLUMN utm_campaign,
    DROP COLUMN utm_medium, DROP COLUMN utm_source, DROP COLUMN person_id, DROP COLUMN email_domain, DROP COLUMN submission_id;
ALTER TABLE lodestone.link_views DROP COLUMN referrer_host, DROP COLUMN utm_term, DROP COLUMN utm_content, DROP COLUMN utm_campaign,
    DROP COLUMN utm_medium, DROP COLUMN utm_source, DROP COLUMN device;
ALTER TABLE lodestone.events DROP COLUMN device;
