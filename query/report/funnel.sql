-- The way from a landing page to the end of a document. Words in capitals stand for the filters of the question.
--
-- Those who are followed: a submission of the range with the first times of its access links, and an access link of the
-- API that was first opened in the range. Times are milliseconds; NULL: never.
WITH followed AS (
    SELECT
        max(of_form) AS form,
        max(of_api) AS api,
        min(submitted) AS submitted_at,
        min(confirmed) AS verified_at,
        min(viewed) AS opened_at,
        min(last_viewed) AS finished_at,
        min(completed) AS downloaded_at,
        opened_at IS NOT NULL AND (form OR api AND opened_at >= {from:Int64} AND opened_at < {to:Int64}) AS opened,
        opened AND finished_at IS NOT NULL AS finished,
        opened AND downloaded_at IS NOT NULL AS downloaded
    FROM
    (
        SELECT
            r.id AS id,
            true AS of_form,
            false AS of_api,
            toNullable(toUnixTimestamp64Milli(r.submitted_at)) AS submitted,
            toUnixTimestamp64Milli(r.confirmed_at) AS confirmed,
            CAST(NULL, 'Nullable(Int64)') AS viewed,
            CAST(NULL, 'Nullable(Int64)') AS last_viewed,
            CAST(NULL, 'Nullable(Int64)') AS completed
        FROM lodestone.submissions AS r FINAL
        WHERE r.account_id = {account:UUID} AND r.submitted_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND r.submitted_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
            LEAD_FILTERS
        UNION ALL
        SELECT l.followed_id, false, l.of_api, NULL, NULL, e.viewed, e.last_viewed, e.completed
        FROM
        (
            SELECT
                link,
                minOrNullIf(at, kind = 'page_viewed') AS viewed,
                minOrNullIf(at, kind = 'last_page_viewed') AS last_viewed,
                minOrNullIf(at, kind = 'download_completed') AS completed
            FROM
            (
                SELECT access_link_id AS link, toString(event_type) AS kind, toUnixTimestamp64Milli(min(created_at)) AS at
                FROM lodestone.events
                WHERE account_id = {account:UUID} AND event_type IN ('page_viewed', 'download_completed') AND bot = '' MAGNET
                GROUP BY access_link_id, event_type
                UNION ALL
                SELECT access_link_id, 'last_page_viewed', toUnixTimestamp64Milli(min(created_at))
                FROM lodestone.events
                WHERE account_id = {account:UUID} AND event_type = 'page_viewed' AND bot = '' MAGNET
                    AND magnet_version > 0 AND page > 0 AND (lead_magnet_id, magnet_version, page) IN (
                        SELECT lead_magnet_id, magnet_version, page_count FROM lodestone.magnet_versions FINAL WHERE account_id = {account:UUID})
                GROUP BY access_link_id
            )
            GROUP BY link
        ) AS e
        INNER JOIN
        (
            SELECT r.id AS link, ifNull(r.submission_id, r.id) AS followed_id, r.submission_id IS NULL AS of_api
            FROM lodestone.access_links AS r FINAL
            WHERE r.account_id = {account:UUID} AND (r.submission_id IS NOT NULL OR r.source = 'api') LEAD_FILTERS
        ) AS l ON l.link = e.link
    )
    GROUP BY id
)
SELECT
    [countIf(form), countIf(form AND verified_at IS NOT NULL),
        countIf(opened), countIf(opened AND form), countIf(finished), countIf(finished AND form), countIf(downloaded), countIf(downloaded AND form)] AS counts,
    arrayMap(t -> if(isNaN(t), NULL, t), [
        quantileExactInclusiveIf(0.5)(greatest(0, assumeNotNull(verified_at - submitted_at)), form AND verified_at IS NOT NULL),
        quantileExactInclusiveIf(0.5)(greatest(0, assumeNotNull(opened_at - verified_at)), form AND opened AND verified_at IS NOT NULL),
        quantileExactInclusiveIf(0.5)(greatest(0, assumeNotNull(finished_at - opened_at)), form AND finished),
        quantileExactInclusiveIf(0.5)(greatest(0, assumeNotNull(downloaded_at - opened_at)), form AND downloaded)]) AS medians
FROM followed
UNION ALL
SELECT [countIf(r.bot = ''), countIf(r.bot != '')], CAST([], 'Array(Nullable(Float64))')
FROM lodestone.link_views AS r
WHERE r.account_id = {account:UUID} AND r.created_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND r.created_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    VIEW_FILTERS
UNION ALL
SELECT [toUInt64(0), count()], CAST([], 'Array(Nullable(Float64))')
FROM lodestone.events AS r EVENT_JOINS
WHERE r.account_id = {account:UUID} AND r.created_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND r.created_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    AND r.bot != '' EVENT_FILTERS
