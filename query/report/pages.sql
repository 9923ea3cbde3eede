-- How each page of one version of a document was read. The first row is of page 0, which no document has: it names the
-- version and counts the views of bots.
WITH
    coalesce({version:Nullable(UInt32)}, (
        SELECT maxOrNull(magnet_version)
        FROM lodestone.events
        WHERE account_id = {account:UUID} AND lead_magnet_id = {lead_magnet:UUID} AND event_type = 'page_viewed' AND bot = ''
            AND created_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND created_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    )) AS shown
SELECT
    toUInt32(0) AS page,
    ifNull(shown, 0) AS version,
    isNotNull(shown) AS known,
    count() AS views,
    toUInt64(0) AS readers,
    toUInt64(0) AS stopped,
    toUInt64(0) AS reread,
    CAST([], 'Array(Float64)') AS times
FROM lodestone.events
WHERE account_id = {account:UUID} AND lead_magnet_id = {lead_magnet:UUID} AND event_type = 'page_viewed' AND bot != ''
    AND magnet_version = shown
    AND created_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND created_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
UNION ALL
SELECT
    page,
    toUInt32(0),
    false,
    sum(viewed),
    count(),
    countIf(page = furthest),
    countIf(viewed > 1),
    -- To a thousandth of a millisecond: beyond that is the error of the interpolation.
    arrayMap(t -> round(t, 3), arrayFilter(t -> NOT isNaN(t), quantilesExactInclusiveArray(0.5, 0.9)(durations)))
FROM
(
    SELECT
        page,
        count() AS viewed,
        groupArrayIf(lodestonePageTime(duration_ms), duration_ms > 0) AS durations,
        max(page) OVER (PARTITION BY access_link_id) AS furthest
    FROM lodestone.events
    WHERE account_id = {account:UUID} AND lead_magnet_id = {lead_magnet:UUID} AND event_type = 'page_viewed' AND page > 0 AND bot = ''
        AND magnet_version = shown
        AND created_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND created_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    GROUP BY access_link_id, page
)
GROUP BY page
