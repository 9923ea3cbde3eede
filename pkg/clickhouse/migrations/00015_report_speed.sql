-- What reports read, in the order in which they read it. Measured in docs/decisions/006-reports.md.

-- +goose Up
-- The projection quarters takes the place of visits, which had no pages, browsers and countries, and of sessions, if it is still
-- there. One row is a session, a kind of event and a quarter of an hour, in the order of access links. Quarters of an hour serve the
-- time zones with :30 and :45. It is in the same part as the events, so a replay can neither miss nor double anything.
ALTER TABLE lodestone.events ADD PROJECTION IF NOT EXISTS quarters
(
    SELECT
        account_id, access_link_id, lead_magnet_id,
        if(session_id = toUUID('00000000-0000-0000-0000-000000000000'), event_id, session_id),
        event_type, bot = '',
        toStartOfFifteenMinutes(created_at), generic_link_id, magnet_version, user_agent, agent_names, origin,
        min(created_at), max(created_at), count(), sum(duration_ms), groupUniqArray(page)
    GROUP BY
        account_id, access_link_id, lead_magnet_id,
        if(session_id = toUUID('00000000-0000-0000-0000-000000000000'), event_id, session_id),
        event_type, bot = '',
        toStartOfFifteenMinutes(created_at), generic_link_id, magnet_version, user_agent, agent_names, origin
);
-- Consumers go on meanwhile; parts that do not have it yet are read without it. Nothing waits here: that may take hours.
ALTER TABLE lodestone.events MATERIALIZE PROJECTION quarters SETTINGS alter_sync = 0, mutations_sync = 0;
ALTER TABLE lodestone.events DROP PROJECTION IF EXISTS visits SETTINGS alter_sync = 0, mutations_sync = 0;
ALTER TABLE lodestone.events DROP PROJECTION IF EXISTS sessions SETTINGS alter_sync = 0, mutations_sync = 0;

-- Copies of links and submissions in the order of accounts. What a mirror of the release before copies meanwhile is found by the
-- next comparison (ingest/mirror).
CREATE TABLE IF NOT EXISTS lodestone.access_links_of_accounts AS lodestone.access_links
ENGINE = ReplacingMergeTree(version, deleted)
ORDER BY (account_id, id)
SETTINGS min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1,
    fsync_after_insert = 1, fsync_part_directory = 1;
INSERT INTO lodestone.access_links_of_accounts SELECT * FROM lodestone.access_links FINAL;
EXCHANGE TABLES lodestone.access_links_of_accounts AND lodestone.access_links;
DROP TABLE lodestone.access_links_of_accounts;

CREATE TABLE IF NOT EXISTS lodestone.submissions_of_accounts AS lodestone.submissions
ENGINE = ReplacingMergeTree(version, deleted)
ORDER BY (account_id, id)
SETTINGS min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1,
    fsync_after_insert = 1, fsync_part_directory = 1;
INSERT INTO lodestone.submissions_of_accounts SELECT * FROM lodestone.submissions FINAL;
EXCHANGE TABLES lodestone.submissions_of_accounts AND lodestone.submissions;
DROP TABLE lodestone.submissions_of_accounts;

-- +goose Down
CREATE TABLE IF NOT EXISTS lodestone.access_links_by_id AS lodestone.access_links
ENGINE = ReplacingMergeTree(version, deleted)
ORDER BY id
SETTINGS min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1,
    fsync_after_insert = 1, fsync_part_directory = 1;
INSERT INTO lodestone.access_links_by_id SELECT * FROM lodestone.access_links FINAL;
EXCHANGE TABLES lodestone.access_links_by_id AND lodestone.access_links;
DROP TABLE lodestone.access_links_by_id;
CREATE TABLE IF NOT EXISTS lodestone.submissions_by_id AS lodestone.submissions
ENGINE = ReplacingMergeTree(version, deleted)
ORDER BY id
SETTINGS min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1,
    fsync_after_insert = 1, fsync_part_directory = 1;
INSERT INTO lodestone.submissions_by_id SELECT * FROM lodestone.submissions FINAL;
EXCHANGE TABLES lodestone.submissions_by_id AND lodestone.submissions;
DROP TABLE lodestone.submissions_by_id;

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
ALTER TABLE lodestone.events MATERIALIZE PROJECTION sessions SETTINGS alter_sync = 0, mutations_sync = 0;
ALTER TABLE lodestone.events DROP PROJECTION quarters SETTINGS alter_sync = 0, mutations_sync = 0;
