-- What the words of reports mean, once for the views of the database analytics (migrations) and for the API (query/report).
-- Each migration creates these functions again, so that a database restored without them has them. A view holds the bodies
-- that they had when it was created: to change one, recreate the views that use it in a migration of its own.

-- The kind of device, as the columns device of the tables have it. Televisions call themselves tablets, phones or Linux, and Windows
-- with a pen a Tablet PC.
CREATE OR REPLACE FUNCTION lodestoneDevice AS (user_agent, bot) -> multiIf(
    bot != '', 'bot',
    user_agent = '', 'unknown',
    match(user_agent, '(?i)hbbtv|smart[-_ ]?tv|google ?tv|android ?tv|apple ?tv|[^a-z]tv[^a-z]|bravia|[^a-z]aft[a-z0-9]+[^a-z0-9]|netcast|web0s|vidaa|[^a-z]viera|roku|crkey|large screen|nettv'), 'other',
    match(user_agent, '(?i)ipad|tablet($|[^ ]| ($|[^p]))|kindle|silk/') OR (position(user_agent, 'Android') > 0 AND position(user_agent, 'Mobile') = 0), 'tablet',
    match(user_agent, '(?i)mobi|iphone|ipod'), 'mobile',
    match(user_agent, '(?i)windows|macintosh|x11|cros'), 'desktop',
    'other');

-- An event that names no session is a session by itself.
CREATE OR REPLACE FUNCTION lodestoneSession AS (session_id, event_id) ->
    if(session_id = toUUID('00000000-0000-0000-0000-000000000000'), event_id, session_id);

-- A view of a page counts ten minutes at most: a page that lies open is not read.
CREATE OR REPLACE FUNCTION lodestonePageTime AS (duration_ms) -> least(duration_ms, toUInt32(600000));

-- Whoever views the last page of a version has finished. A version or a page of 0 is not known.
CREATE OR REPLACE FUNCTION lodestoneFinishes AS (magnet_version, page, page_count) ->
    magnet_version > 0 AND page > 0 AND page = page_count;

-- A version has the pages up to its last one. A client can send others.
CREATE OR REPLACE FUNCTION lodestoneHasPage AS (page_count, page) -> page > 0 AND page <= page_count;

-- A page is attended to for two seconds or more, all views of it together.
CREATE OR REPLACE FUNCTION lodestoneAttends AS (reading_ms) -> reading_ms >= 2000;

-- A reader who has finished is attentive if three fifths of the pages were attended to. Only pages of the version count.
CREATE OR REPLACE FUNCTION lodestoneAttentive AS (pages_attended, page_count) -> pages_attended * 5 >= page_count * 3;
