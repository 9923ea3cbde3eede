-- A view is a session that saw at least one page; an event without a session is one of its own.
-- Projection visits answers this: it has its columns in its words.
-- A link's lead magnet never changes, and each event of it was signed with it: the links alone say which lead magnets are meant.
SELECT count(), uniqExact(lead_magnet_id), min(first_page), max(last_page)
FROM
(
    SELECT
        access_link_id,
        lead_magnet_id,
        if(session_id = toUUID('00000000-0000-0000-0000-000000000000'), event_id, session_id) AS session,
        min(created_at) AS first_page,
        max(created_at) AS last_page
    FROM lodestone.events
    WHERE account_id = {account:UUID}
      AND event_type = 'page_viewed'
      AND bot = ''
      AND access_link_id IN {access_links:Array(UUID)}
    GROUP BY access_link_id, lead_magnet_id, session
)
