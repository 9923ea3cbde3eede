-- Sessions that look like a person's and behave like a program's that checks links.

-- +goose Up

-- Whether a page view tells of a pointer, a key or a touch, or does not tell at all: sessions of before do not tell. And a hash of the hash of
-- the address, which changes each day, and of the browser; null: not known, or withheld. Both are set from ClickHouse.
ALTER TABLE sessions ADD COLUMN touched boolean NOT NULL DEFAULT true, ADD COLUMN client bigint;
ALTER TABLE sessions ALTER COLUMN touched SET DEFAULT false;

-- A session that a rule suspects. It stays when its link is deleted, as its events do.
CREATE TABLE suspects (
    id             uuid PRIMARY KEY, -- of the session
    account_id     uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
    access_link_id uuid NOT NULL,
    rule           text NOT NULL,
    started_at     timestamptz(3) NOT NULL
);
CREATE INDEX suspects_newest ON suspects (account_id, rule, started_at DESC);

-- The rules whose sessions an account leaves out of its numbers.
ALTER TABLE accounts ADD COLUMN left_out_suspects text[] NOT NULL DEFAULT '{}';

CREATE TRIGGER note_made AFTER INSERT ON suspects
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_entities();
CREATE TRIGGER note_deleted AFTER DELETE ON suspects
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_entities();

CREATE OR REPLACE VIEW copied_entities WITH (security_invoker = true) AS
    SELECT 'lead_magnets' AS entity, m.id, concat_ws(chr(31), m.id, m.account_id, m.title, coalesce(m.description, ''), m.is_active::int, m.file_version,
        coalesce(f.page_count, 0), floor(extract(epoch FROM m.created_at) * 1000)::bigint, floor(extract(epoch FROM m.updated_at) * 1000)::bigint) AS content
    FROM lead_magnets m LEFT JOIN lead_magnet_files f ON f.lead_magnet_id = m.id AND f.version = m.file_version
    UNION ALL
    SELECT 'generic_links', l.id, concat_ws(chr(31), l.id, l.account_id, l.lead_magnet_id, l.slug, coalesce(l.title, ''), l.active::int, l.require_verification::int,
        l.submission_count, floor(extract(epoch FROM l.created_at) * 1000)::bigint, floor(extract(epoch FROM l.updated_at) * 1000)::bigint)
    FROM generic_links l
    UNION ALL
    SELECT 'access_links', a.id, concat_ws(chr(31), a.id, a.account_id, a.lead_magnet_id, coalesce(a.generic_link_id::text, ''),
        coalesce(a.submission_id::text, ''), CASE WHEN (SELECT emails FROM entity_copy) THEN a.email ELSE '' END, substring(a.email_key FROM '[^@]*$'),
        person_id(a.account_id, a.email_key), a.source, coalesce(a.utm ->> 'utm_source', ''), coalesce(a.utm ->> 'utm_medium', ''),
        coalesce(a.utm ->> 'utm_campaign', ''), coalesce(a.utm ->> 'utm_content', ''), coalesce(a.utm ->> 'utm_term', ''), coalesce(a.referrer, ''),
        coalesce(a.max_views::text, ''), coalesce(floor(extract(epoch FROM a.expires_at) * 1000)::bigint::text, ''), a.is_active::int,
        floor(extract(epoch FROM a.created_at) * 1000)::bigint, floor(extract(epoch FROM a.updated_at) * 1000)::bigint)
    FROM access_links a
    UNION ALL
    SELECT 'submissions', s.id, concat_ws(chr(31), s.id, s.account_id, l.lead_magnet_id, s.generic_link_id,
        CASE WHEN (SELECT emails FROM entity_copy) THEN s.email ELSE '' END, substring(s.email_key FROM '[^@]*$'), person_id(s.account_id, s.email_key),
        s.verification_required::int, s.verified::int, coalesce(s.utm ->> 'utm_source', ''), coalesce(s.utm ->> 'utm_medium', ''),
        coalesce(s.utm ->> 'utm_campaign', ''), coalesce(s.utm ->> 'utm_content', ''), coalesce(s.utm ->> 'utm_term', ''), coalesce(s.referrer, ''),
        floor(extract(epoch FROM s.submitted_at) * 1000)::bigint, coalesce(floor(extract(epoch FROM s.verified_at) * 1000)::bigint::text, ''),
        coalesce(floor(extract(epoch FROM s.consented_at) * 1000)::bigint::text, ''),
        CASE WHEN (SELECT emails FROM entity_copy) THEN s.answers::text ELSE '{}' END)
    FROM submissions s JOIN generic_links l ON l.account_id = s.account_id AND l.id = s.generic_link_id
    UNION ALL
    SELECT 'suspects', s.id, concat_ws(chr(31), s.id, s.account_id, s.access_link_id, s.rule, floor(extract(epoch FROM s.started_at) * 1000)::bigint)
    FROM suspects s;
