-- Pages that no one viewed are rows of analytics.pages, and pages beyond the end of a document make no reader attentive. The
-- migration touches no table, so ingestion goes on meanwhile.

-- +goose Up

-- One row an access link by which a person viewed a page, as in 00012_sql_views.sql. Only pages of the version make attentive.
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

-- One row a page of a version that people read, as GET /analytics/pages shows it: of the first 10,000 every page of the version and
-- every page up to the last one viewed, then those viewed. Times are to a thousandth of a millisecond, beyond which is the error of
-- the interpolation.
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

-- +goose Down
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
