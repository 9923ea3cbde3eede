-- With what a visitor came, and from where; '' is not known. The consumer writes the names of the browser and the operating system, so that
-- later lists of them do not change what is stored. Rows that are stored already get theirs from the user agent by package
-- ingest/backfill, while consumers go on. Their country and language are not known: nothing that says them was stored.
--
-- Two columns are stored for the four that are read, since each costs the server some processor time for a row. Their few
-- values are taken apart by the part's dictionary, not row by row.

-- +goose Up
ALTER TABLE lodestone.events
    ADD COLUMN IF NOT EXISTS agent_names LowCardinality(String) AFTER user_agent, -- as 'Chrome/macOS'
    ADD COLUMN IF NOT EXISTS origin LowCardinality(String) AFTER agent_names, -- as 'DE/de'
    ADD COLUMN IF NOT EXISTS browser LowCardinality(String) ALIAS substringIndex(agent_names, '/', 1),
    ADD COLUMN IF NOT EXISTS os LowCardinality(String) ALIAS substringIndex(agent_names, '/', -1),
    ADD COLUMN IF NOT EXISTS country LowCardinality(String) ALIAS substringIndex(origin, '/', 1),
    ADD COLUMN IF NOT EXISTS language LowCardinality(String) ALIAS substringIndex(origin, '/', -1);
ALTER TABLE lodestone.link_views
    ADD COLUMN IF NOT EXISTS agent_names LowCardinality(String) AFTER user_agent, -- as 'Chrome/macOS'
    ADD COLUMN IF NOT EXISTS origin LowCardinality(String) AFTER agent_names, -- as 'DE/de'
    ADD COLUMN IF NOT EXISTS browser LowCardinality(String) ALIAS substringIndex(agent_names, '/', 1),
    ADD COLUMN IF NOT EXISTS os LowCardinality(String) ALIAS substringIndex(agent_names, '/', -1),
    ADD COLUMN IF NOT EXISTS country LowCardinality(String) ALIAS substringIndex(origin, '/', 1),
    ADD COLUMN IF NOT EXISTS language LowCardinality(String) ALIAS substringIndex(origin, '/', -1);

CREATE OR REPLACE VIEW analytics.events
    DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
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
    kafka_topic_id,
    kafka_partition,
    kafka_offset,
    browser,
    os,
    country,
    language
FROM lodestone.events;

CREATE OR REPLACE VIEW analytics.link_views
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
    CAST(device AS String) AS device,
    bot,
    created_at,
    received_at,
    browser,
    os,
    country,
    language
FROM lodestone.link_views;

-- +goose Down
CREATE OR REPLACE VIEW analytics.link_views
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
CREATE OR REPLACE VIEW analytics.events
    DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
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
    kafka_topic_id,
    kafka_partition,
    kafka_offset
FROM lodestone.events;
ALTER TABLE lodestone.link_views DROP COLUMN language, DROP COLUMN country, DROP COLUMN os, DROP COLUMN browser;
ALTER TABLE lodestone.link_views DROP COLUMN origin, DROP COLUMN agent_names;
ALTER TABLE lodestone.events DROP COLUMN language, DROP COLUMN country, DROP COLUMN os, DROP COLUMN browser;
ALTER TABLE lodestone.events DROP COLUMN origin, DROP COLUMN agent_names;
