-- +goose Up

-- How lists of events are counted and found (query/eventlist; measured in docs/storage.md). Both are in the same
-- part as the rows, so a replay can neither miss nor double anything. Consumers go on meanwhile: adding a projection
-- changes what the table is, not its rows, and parts that do not have it yet are read without it.

-- The events of an access link side by side, in the order of time, with all that a list can be filtered by.
ALTER TABLE lodestone.events ADD PROJECTION IF NOT EXISTS by_link
(
    SELECT account_id, access_link_id, created_at, stored_at, lead_magnet_id, event_type, bot
    ORDER BY account_id, access_link_id, created_at
);
ALTER TABLE lodestone.events MATERIALIZE PROJECTION by_link;

-- A number for each day and kind of event of a lead magnet.
ALTER TABLE lodestone.events ADD PROJECTION IF NOT EXISTS by_day
(
    SELECT account_id, lead_magnet_id, event_type, bot = '', toDate(created_at), count()
    GROUP BY account_id, lead_magnet_id, event_type, bot = '', toDate(created_at)
);
ALTER TABLE lodestone.events MATERIALIZE PROJECTION by_day;

-- A query looks into every part of the months that it asks for, and each costs about a millisecond. Months that
-- nothing is added to any more become one part each.
ALTER TABLE lodestone.events MODIFY SETTING min_age_to_force_merge_seconds = 43200, min_age_to_force_merge_on_partition_only = 1;
ALTER TABLE lodestone.link_views MODIFY SETTING min_age_to_force_merge_seconds = 43200, min_age_to_force_merge_on_partition_only = 1;

-- +goose Down
ALTER TABLE lodestone.link_views RESET SETTING min_age_to_force_merge_seconds, min_age_to_force_merge_on_partition_only;
ALTER TABLE lodestone.events RESET SETTING min_age_to_force_merge_seconds, min_age_to_force_merge_on_partition_only;
ALTER TABLE lodestone.events DROP PROJECTION by_day;
ALTER TABLE lodestone.events DROP PROJECTION by_link;
