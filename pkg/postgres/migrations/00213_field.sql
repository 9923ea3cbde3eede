-- +goose Up
-- The fields that an owner adds to the form of a generic link, and what visitors answer in them.
ALTER TABLE generic_links ADD COLUMN fields jsonb NOT NULL DEFAULT '[]';
ALTER TABLE submissions ADD COLUMN answers jsonb NOT NULL DEFAULT '{}'; -- texts, by the key of the field

-- Answers are copied to ClickHouse where addresses are.
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
    FROM submissions s JOIN generic_links l ON l.account_id = s.account_id AND l.id = s.generic_link_id;

CREATE OR REPLACE TRIGGER note_changed AFTER UPDATE ON submissions FOR EACH ROW
    WHEN (ROW(OLD.email, OLD.verification_required, OLD.verified, OLD.verified_at, OLD.utm, OLD.referrer, OLD.consented_at, OLD.submitted_at, OLD.answers)
        IS DISTINCT FROM ROW(NEW.email, NEW.verification_required, NEW.verified, NEW.verified_at, NEW.utm, NEW.referrer, NEW.consented_at, NEW.submitted_at, NEW.answers))
    EXECUTE FUNCTION note_entity();
