-- The whole model for SQL users: submissions, readers and pages, where readers and visitors came from, and the words of
-- reports with one definition each (functions.sql). The migration touches no table, so ingestion goes on meanwhile.

-- +goose Up

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
    language,
    device
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
FROM lodestone.link_views;

-- Addresses, and what tells that two links are one person's, are there only if addresses are copied.
CREATE OR REPLACE VIEW analytics.access_links
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
FROM lodestone.access_links FINAL;

CREATE OR REPLACE VIEW analytics.submissions
    DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
    account_id,
    lead_magnet_id,
    generic_link_id,
    id AS submission_id,
    multiIf(
        (account_id, id) IN (
            SELECT account_id, assumeNotNull(submission_id)
            FROM lodestone.access_links FINAL
            WHERE submission_id IS NOT NULL AND (account_id, id) IN (
                SELECT account_id, access_link_id
                FROM lodestone.events
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
FROM lodestone.submissions FINAL;

CREATE OR REPLACE VIEW analytics.sessions
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
    GROUP BY account_id, lead_magnet_id, access_link_id, session
);

-- One row an access link by which a person viewed a page: links are there for everyone, persons only where addresses are
-- copied, and person_id joins the links of a person then. A key is a version, shifted left by 32 bits, and a page.
CREATE VIEW IF NOT EXISTS analytics.readers
    DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
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
                (key, ms) -> bitShiftRight(key, 32) = bitShiftRight(last, 32) AND toUInt32(key) > 0 AND lodestoneAttends(ms),
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
        WHERE bot = ''
        GROUP BY account_id, lead_magnet_id, access_link_id
        HAVING page_views > 0
    ) AS p
    LEFT ANY JOIN
    (
        SELECT account_id, lead_magnet_id, CAST((groupArray(magnet_version), groupArray(page_count)), 'Map(UInt32, UInt32)') AS page_counts
        FROM lodestone.magnet_versions FINAL
        GROUP BY account_id, lead_magnet_id
    ) AS v USING (account_id, lead_magnet_id)
) AS r
LEFT ANY JOIN
(
    SELECT account_id, id AS access_link_id, email, email_domain, person_id, referrer_host, utm_source, utm_medium, utm_campaign, utm_content, utm_term
    FROM lodestone.access_links FINAL
) AS l USING (account_id, access_link_id);

-- One row a page of a version of a document, as GET /analytics/pages shows it: of the first 10,000 every page up to the last
-- one viewed, then those viewed. Readers are counted by what each viewed, and times by page. Times are to a thousandth of a
-- millisecond, beyond which is the error of the interpolation.
CREATE VIEW IF NOT EXISTS analytics.pages
    DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
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
                arrayMap(n -> (toUInt32(n), toUInt64(0)), range(1, least(furthest, 10000) + 1)))) AS row,
            row.1 AS page,
            row.2 AS viewed,
            furthest,
            CAST([], 'Array(Float64)') AS quantiles
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
            WHERE event_type = 'page_viewed' AND bot = '' AND page > 0
            GROUP BY account_id, lead_magnet_id, magnet_version, access_link_id
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
        WHERE event_type = 'page_viewed' AND bot = '' AND page > 0 AND duration_ms > 0
        GROUP BY account_id, lead_magnet_id, magnet_version, page
    )
    GROUP BY account_id, lead_magnet_id, magnet_version, page
) AS p
LEFT ANY JOIN
(
    SELECT account_id, lead_magnet_id, magnet_version, page_count
    FROM lodestone.magnet_versions FINAL
) AS v USING (account_id, lead_magnet_id, magnet_version);

-- +goose Down
DROP VIEW analytics.pages;
DROP VIEW analytics.readers;
DROP VIEW analytics.submissions;

CREATE OR REPLACE VIEW analytics.sessions
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

CREATE OR REPLACE VIEW analytics.access_links
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
    updated_at,
    source
FROM lodestone.access_links FINAL;

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
