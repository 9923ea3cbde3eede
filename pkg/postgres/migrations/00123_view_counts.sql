-- Counters of links move to narrow tables of their own, beside the sessions that they count: what a counted session adds is decided by a
-- look at its row here, and never by the history in ClickHouse. No row that opening a document needs is locked. A link whose counter is not
-- here yet has that of the wide table, which consumers of the release before still set. The two releases may count side by side.

-- +goose Up
CREATE TABLE access_link_counts (
    id              uuid PRIMARY KEY,
    account_id      uuid NOT NULL,
    views           bigint NOT NULL DEFAULT 0,
    first_viewed_at timestamptz(3),
    last_viewed_at  timestamptz(3),
    FOREIGN KEY (account_id, id) REFERENCES access_links (account_id, id) ON DELETE CASCADE
) WITH (fillfactor = 60);

-- The sessions that a link's views are made of. An event without a session is one of its own, by the event's id.
CREATE TABLE counted_sessions (
    link_id uuid NOT NULL REFERENCES access_link_counts (id) ON DELETE CASCADE,
    session uuid NOT NULL,
    month   integer NOT NULL, -- of its last page view, as 202611: a session leaves with the month (ingest/retention)
    PRIMARY KEY (link_id, session)
) WITH (fillfactor = 90);

CREATE TABLE generic_link_counts (
    id          uuid PRIMARY KEY,
    account_id  uuid NOT NULL,
    views       bigint NOT NULL DEFAULT 0,
    minutes_since timestamptz(0) NOT NULL DEFAULT '2000-01-01 00:00:00Z', -- landing_minutes has all minutes from here on
    FOREIGN KEY (account_id, id) REFERENCES generic_links (account_id, id) ON DELETE CASCADE
) WITH (fillfactor = 60);

-- What the views of a generic link have of a minute, for some days.
CREATE TABLE landing_minutes (
    link_id uuid NOT NULL REFERENCES generic_link_counts (id) ON DELETE CASCADE,
    minute  timestamptz(0) NOT NULL,
    views   bigint NOT NULL,
    PRIMARY KEY (link_id, minute)
) WITH (fillfactor = 80);

-- How far the narrow counters are: where those of the release before are when they begin.
CREATE TABLE counted_partitions (
    topic_id    uuid NOT NULL,
    partition   integer NOT NULL,
    next_offset bigint NOT NULL,  -- everything below it is counted
    rows_since  timestamptz(3),   -- a time shortly before which the next rows were stored: where the search for them begins
    PRIMARY KEY (topic_id, partition)
) WITH (fillfactor = 50);
INSERT INTO counted_partitions (topic_id, partition, next_offset) SELECT topic_id, partition, next_offset FROM counter_progress;

-- Links that are older may have views that only the wide tables have. They are converted in the background, in the order of ids, and earlier
-- if they have new events. An hour more than needed does no harm.
CREATE TABLE count_conversion (
    single              boolean PRIMARY KEY DEFAULT true CHECK (single),
    links_before        timestamptz NOT NULL,
    access_links_after  uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    generic_links_after uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    finished            boolean NOT NULL DEFAULT false
);
INSERT INTO count_conversion (links_before, finished)
SELECT CASE WHEN old THEN clock_timestamp() + interval '1 hour' ELSE '2000-01-01 00:00:00Z' END, NOT old
FROM (SELECT EXISTS (SELECT FROM access_links) OR EXISTS (SELECT FROM generic_links) AS old) AS a;

CREATE VIEW counted_access_links WITH (security_invoker = true) AS
SELECT l.id, l.account_id, l.submission_id, coalesce(c.views, l.view_count) AS view_count,
    CASE WHEN c.id IS NULL THEN l.first_viewed_at ELSE c.first_viewed_at END AS first_viewed_at,
    CASE WHEN c.id IS NULL THEN l.last_viewed_at ELSE c.last_viewed_at END AS last_viewed_at
FROM access_links l LEFT JOIN access_link_counts c ON c.id = l.id;

-- A submission has the views of its access links.
CREATE VIEW counted_submissions WITH (security_invoker = true) AS
SELECT s.id, s.account_id, coalesce(n.views, 0)::bigint AS view_count, n.first_viewed_at, n.last_viewed_at
FROM submissions s
LEFT JOIN LATERAL (
    SELECT sum(a.view_count) AS views, min(a.first_viewed_at) AS first_viewed_at, max(a.last_viewed_at) AS last_viewed_at
    FROM counted_access_links a
    WHERE a.account_id = s.account_id AND a.submission_id = s.id
) AS n ON true;

CREATE VIEW counted_generic_links WITH (security_invoker = true) AS
SELECT g.id, g.account_id, coalesce(c.views, g.view_count) AS view_count
FROM generic_links g LEFT JOIN generic_link_counts c ON c.id = g.id;

ALTER TABLE access_link_counts ENABLE ROW LEVEL SECURITY;
ALTER TABLE generic_link_counts ENABLE ROW LEVEL SECURITY;
CREATE POLICY account ON access_link_counts TO lodestone_account
    USING (account_id = current_setting('lodestone.account_id')::uuid)
    WITH CHECK (account_id = current_setting('lodestone.account_id')::uuid);
CREATE POLICY account ON generic_link_counts TO lodestone_account
    USING (account_id = current_setting('lodestone.account_id')::uuid)
    WITH CHECK (account_id = current_setting('lodestone.account_id')::uuid);
GRANT SELECT ON access_link_counts, generic_link_counts, counted_access_links, counted_submissions, counted_generic_links TO lodestone_account;

-- +goose Down
DROP VIEW counted_access_links, counted_submissions, counted_generic_links;
DROP TABLE counted_sessions, access_link_counts, landing_minutes, generic_link_counts, counted_partitions, count_conversion;
