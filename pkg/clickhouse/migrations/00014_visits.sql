-- What reports count (query/report): one row for each session, kind of event and quarter of an hour, in the order of access links.
-- Quarters of an hour serve the time zones with :30 and :45. It is in the same part as the events, so a replay can neither miss nor
-- double anything, and takes the place of the projection "sessions", whose columns it has. Measured in docs/decisions/006-reports.md.

-- +goose Up
ALTER TABLE lodestone.events ADD PROJECTION IF NOT EXISTS visits
(
    SELECT
        account_id, access_link_id, lead_magnet_id,
        if(session_id = toUUID('00000000-0000-0000-0000-000000000000'), event_id, session_id),
        event_type, bot = '',
        toStartOfFifteenMinutes(created_at), generic_link_id, magnet_version, user_agent,
        min(created_at), max(created_at), count(), sum(duration_ms)
    GROUP BY
        account_id, access_link_id, lead_magnet_id,
        if(session_id = toUUID('00000000-0000-0000-0000-000000000000'), event_id, session_id),
        event_type, bot = '',
        toStartOfFifteenMinutes(created_at), generic_link_id, magnet_version, user_agent
);
-- Consumers go on meanwhile; parts that do not have it yet are read without it.
ALTER TABLE lodestone.events MATERIALIZE PROJECTION visits;
ALTER TABLE lodestone.events DROP PROJECTION IF EXISTS sessions;

-- +goose Down
ALTER TABLE lodestone.events ADD PROJECTION IF NOT EXISTS sessions
(
    SELECT
        account_id, access_link_id, lead_magnet_id,
        if(session_id = toUUID('00000000-0000-0000-0000-000000000000'), event_id, session_id),
        event_type, bot = '',
        min(created_at), max(created_at), count()
    GROUP BY
        account_id, access_link_id, lead_magnet_id,
        if(session_id = toUUID('00000000-0000-0000-0000-000000000000'), event_id, session_id),
        event_type, bot = ''
);
ALTER TABLE lodestone.events MATERIALIZE PROJECTION sessions;
ALTER TABLE lodestone.events DROP PROJECTION visits;
