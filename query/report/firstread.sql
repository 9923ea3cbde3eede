-- When a person first read a lead magnet, and how often bots viewed its pages in the range.
SELECT
    (
        SELECT toUnixTimestamp64Milli(minOrNull(created_at))
        FROM lodestone.events
        WHERE account_id = {account:UUID} AND lead_magnet_id = {lead_magnet:UUID} AND event_type = 'page_viewed' AND bot = ''
            /* conditions */
    ) AS first_read,
    (
        SELECT count()
        FROM lodestone.events
        WHERE account_id = {account:UUID} AND lead_magnet_id = {lead_magnet:UUID} AND event_type = 'page_viewed' AND bot != ''
            AND created_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND created_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
            /* conditions */
    ) AS bots
