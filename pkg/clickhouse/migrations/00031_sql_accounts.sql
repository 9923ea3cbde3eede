-- An SQL user of one account learns nothing of others: the account stands in the innermost SELECT
-- of every view, as PREWHERE. ClickHouse evaluates PREWHERE before every other condition. The
-- condition of a row policy on a view, in contrast, is evaluated with those of the user in any
-- order, and after them if they are on keys of an aggregation.
--
-- The accounts of a user are those that the row policies on the views name. The server evaluates
-- the subquery before it makes the plan: the user of all accounts has no condition, and the others
-- have one on the primary key.

-- +goose Up

-- The accounts that the user who asks may see, by the name of the view; an empty name means every
-- view. A view without a row is not limited for this user. Unlike currentUser(), a client of the
-- native protocol cannot forge authenticatedUser().
CREATE OR REPLACE VIEW lodestone.sql_accounts
    DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
    table AS view,
    groupUniqArrayArray(arrayMap(
        id -> toUUID(id),
        extractAll(select_filter, '[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}'))) AS accounts
FROM system.row_policies
WHERE database = 'analytics' AND (has(apply_to_list, authenticatedUser()) OR (apply_to_all AND NOT has(apply_to_except, authenticatedUser())))
GROUP BY table;

CREATE OR REPLACE VIEW analytics.events
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
    utm_term
FROM lodestone.link_views
PREWHERE empty(accounts) OR has(accounts, account_id);

CREATE OR REPLACE VIEW analytics.access_links
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

CREATE OR REPLACE VIEW analytics.submissions
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

CREATE OR REPLACE VIEW analytics.sessions
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

CREATE OR REPLACE VIEW analytics.readers
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

CREATE OR REPLACE VIEW analytics.pages
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

CREATE OR REPLACE VIEW analytics.lead_magnets
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

CREATE OR REPLACE VIEW analytics.generic_links
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

-- +goose Down
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

CREATE OR REPLACE VIEW analytics.readers
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

CREATE OR REPLACE VIEW analytics.pages
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
                WHERE event_type = 'page_viewed' AND bot = '' AND page > 0
                GROUP BY account_id, lead_magnet_id, magnet_version, access_link_id
            ) AS e
            LEFT ANY JOIN
            (
                SELECT account_id, lead_magnet_id, magnet_version, page_count
                FROM lodestone.magnet_versions FINAL
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

CREATE OR REPLACE VIEW analytics.lead_magnets
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

CREATE OR REPLACE VIEW analytics.generic_links
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

DROP VIEW lodestone.sql_accounts;
