-- How each page of one version of a document was read. The first row is of page 0, which no document has: it names the
-- version, counts the views of bots, and has the number of pages as its readers. Where no person read, it is of all versions.
-- VISIT_TIME is the time of an event, or its quarter of an hour if the range has whole ones: projection quarters then answers.
WITH
    coalesce({version:Nullable(UInt32)}, (
        SELECT maxOrNull(magnet_version)
        FROM
        (
            SELECT magnet_version
            FROM lodestone.events
            WHERE account_id = {account:UUID} AND lead_magnet_id = {lead_magnet:UUID} AND event_type = 'page_viewed' AND bot = ''
                AND VISIT_TIME >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND VISIT_TIME < fromUnixTimestamp64Milli({to:Int64}, 'UTC') /* conditions */
            GROUP BY magnet_version
        )
    )) AS shown
SELECT
    toUInt32(0) AS page,
    ifNull(shown, 0) AS version,
    isNotNull(shown) AS known,
    sumIf(events, NOT person) AS views,
    toUInt64(ifNull((
        SELECT max(page_count)
        FROM lodestone.magnet_versions FINAL
        WHERE account_id = {account:UUID} AND lead_magnet_id = {lead_magnet:UUID} AND magnet_version = shown AND magnet_version > 0
    ), 0)) AS readers,
    toUInt64(0) AS stopped,
    toUInt64(0) AS people_stopped,
    toUInt64(0) AS reread,
    CAST([], 'Array(Float64)') AS times
FROM
(
    SELECT bot = '' AS person, count() AS events
    FROM lodestone.events
    WHERE account_id = {account:UUID} AND lead_magnet_id = {lead_magnet:UUID} AND event_type = 'page_viewed' AND (isNull(shown) OR magnet_version = shown)
        AND VISIT_TIME >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND VISIT_TIME < fromUnixTimestamp64Milli({to:Int64}, 'UTC') /* conditions */
    GROUP BY person
)
UNION ALL
SELECT
    page,
    toUInt32(0),
    false,
    count(),
    countIf(page != before),
    countIf(page != before AND page = furthest),
    countIf(page != before AND page = furthest AND of_person),
    countIf(page = before AND page != second_before),
    -- To a thousandth of a millisecond: beyond that is the error of the interpolation.
    arrayMap(t -> round(t, 3), arrayFilter(t -> NOT isNaN(t), quantilesExactInclusiveIf(0.5, 0.9)(ms, ms > 0)))
FROM
(
    -- The access link by which a person came furthest counts the person. One that was deleted stands for a person.
    SELECT
        views, pages, pages[-1] AS furthest,
        row_number() OVER (PARTITION BY if(l.person_id = toUUID('00000000-0000-0000-0000-000000000000'), link, l.person_id) ORDER BY furthest DESC) = 1 AS of_person
    FROM
    (
        -- The views of a reader in the order of pages, each as its page and its time. The rows are read once.
        SELECT
            access_link_id AS link,
            arraySort(groupArray(bitShiftLeft(toUInt64(page), 32) + lodestonePageTime(duration_ms))) AS views,
            arrayMap(v -> toUInt32(bitShiftRight(v, 32)), views) AS pages
        FROM lodestone.events
        WHERE account_id = {account:UUID} AND lead_magnet_id = {lead_magnet:UUID} AND event_type = 'page_viewed' AND page > 0 AND bot = ''
            AND magnet_version = shown
            AND created_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND created_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC') /* conditions */
        GROUP BY access_link_id
    ) AS r
    LEFT ANY JOIN (SELECT id, person_id FROM lodestone.access_links FINAL WHERE account_id = {account:UUID}) AS l ON l.id = r.link
)
ARRAY JOIN
    pages AS page,
    arrayMap(v -> toUInt32(bitAnd(v, 4294967295)), views) AS ms,
    arrayShiftRight(pages, 1) AS before,
    arrayShiftRight(pages, 2) AS second_before
GROUP BY page
