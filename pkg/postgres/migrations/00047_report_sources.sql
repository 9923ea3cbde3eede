-- What reports need of links and submissions: where a reader came from, and which links are one person's.

-- +goose Up
-- In the order in which a form writes to them, so that neither waits for the other.
LOCK TABLE submissions IN SHARE ROW EXCLUSIVE MODE;
LOCK TABLE access_links IN ACCESS EXCLUSIVE MODE;

-- The source of the submission that made a link stays with the link when its landing page is deleted.
ALTER TABLE access_links
    ADD COLUMN utm      jsonb,
    ADD COLUMN referrer text;
UPDATE access_links a SET utm = s.utm, referrer = s.referrer
FROM submissions s
WHERE s.id = a.submission_id AND (s.utm IS NOT NULL OR s.referrer IS NOT NULL);

-- +goose StatementBegin
CREATE FUNCTION take_source() RETURNS trigger LANGUAGE plpgsql
    SET search_path FROM CURRENT AS $$
BEGIN
    SELECT s.utm, s.referrer INTO NEW.utm, NEW.referrer FROM submissions s WHERE s.id = NEW.submission_id;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER take_source BEFORE INSERT ON access_links FOR EACH ROW
    WHEN (NEW.submission_id IS NOT NULL) EXECUTE FUNCTION take_source();

-- The secret of person_id. No other database has it, so ids cannot be compared or guessed from addresses there.
ALTER TABLE entity_copy ADD COLUMN person_key bytea NOT NULL DEFAULT uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid());

-- An id of the person behind an address of an account: the same for each of their links, and nothing else.
CREATE FUNCTION person_id(account uuid, email_key text) RETURNS uuid LANGUAGE sql STABLE
    SET search_path FROM CURRENT
    RETURN encode(substring(sha256((SELECT person_key FROM entity_copy) || uuid_send(account) || convert_to(email_key, 'UTF8')) FOR 16), 'hex')::uuid;

CREATE TRIGGER note_made AFTER INSERT ON submissions
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_entities();
CREATE TRIGGER note_deleted AFTER DELETE ON submissions
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_entities();
CREATE TRIGGER note_changed AFTER UPDATE ON submissions FOR EACH ROW
    WHEN (ROW(OLD.email, OLD.verification_required, OLD.verified, OLD.verified_at, OLD.utm, OLD.referrer, OLD.consented_at, OLD.submitted_at)
        IS DISTINCT FROM ROW(NEW.email, NEW.verification_required, NEW.verified, NEW.verified_at, NEW.utm, NEW.referrer, NEW.consented_at, NEW.submitted_at))
    EXECUTE FUNCTION note_entity();
DROP TRIGGER note_changed ON access_links;
CREATE TRIGGER note_changed AFTER UPDATE ON access_links FOR EACH ROW
    WHEN (ROW(OLD.generic_link_id, OLD.submission_id, OLD.email, OLD.max_views, OLD.expires_at, OLD.is_active, OLD.utm, OLD.referrer, OLD.updated_at)
        IS DISTINCT FROM ROW(NEW.generic_link_id, NEW.submission_id, NEW.email, NEW.max_views, NEW.expires_at, NEW.is_active, NEW.utm, NEW.referrer, NEW.updated_at))
    EXECUTE FUNCTION note_entity();

DROP VIEW copied_entities;
CREATE VIEW copied_entities WITH (security_invoker = true) AS
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
        coalesce(floor(extract(epoch FROM s.consented_at) * 1000)::bigint::text, ''))
    FROM submissions s JOIN generic_links l ON l.account_id = s.account_id AND l.id = s.generic_link_id;

-- Lead magnets for the page counts of their versions, the others for what is new of them.
INSERT INTO entity_changes (entity, id)
    SELECT 'lead_magnets', id FROM lead_magnets
    UNION ALL SELECT 'access_links', id FROM access_links
    UNION ALL SELECT 'submissions', id FROM submissions;

-- +goose Down
DELETE FROM entity_changes WHERE entity = 'submissions';
DROP VIEW copied_entities;
CREATE VIEW copied_entities WITH (security_invoker = true) AS
    SELECT 'lead_magnets' AS entity, m.id, concat_ws(chr(31), m.id, m.account_id, m.title, coalesce(m.description, ''), m.is_active::int, m.file_version,
        coalesce(f.page_count, 0), floor(extract(epoch FROM m.created_at) * 1000)::bigint, floor(extract(epoch FROM m.updated_at) * 1000)::bigint) AS content
    FROM lead_magnets m LEFT JOIN lead_magnet_files f ON f.lead_magnet_id = m.id AND f.version = m.file_version
    UNION ALL
    SELECT 'generic_links', l.id, concat_ws(chr(31), l.id, l.account_id, l.lead_magnet_id, l.slug, coalesce(l.title, ''), l.active::int, l.require_verification::int,
        l.submission_count, floor(extract(epoch FROM l.created_at) * 1000)::bigint, floor(extract(epoch FROM l.updated_at) * 1000)::bigint)
    FROM generic_links l
    UNION ALL
    SELECT 'access_links', a.id, concat_ws(chr(31), a.id, a.account_id, a.lead_magnet_id, coalesce(a.generic_link_id::text, ''),
        CASE WHEN (SELECT emails FROM entity_copy) THEN a.email ELSE '' END, a.source, coalesce(a.max_views::text, ''),
        coalesce(floor(extract(epoch FROM a.expires_at) * 1000)::bigint::text, ''), a.is_active::int,
        floor(extract(epoch FROM a.created_at) * 1000)::bigint, floor(extract(epoch FROM a.updated_at) * 1000)::bigint)
    FROM access_links a;
DROP TRIGGER note_changed ON access_links;
CREATE TRIGGER note_changed AFTER UPDATE ON access_links FOR EACH ROW
    WHEN (ROW(OLD.generic_link_id, OLD.email, OLD.max_views, OLD.expires_at, OLD.is_active, OLD.updated_at)
        IS DISTINCT FROM ROW(NEW.generic_link_id, NEW.email, NEW.max_views, NEW.expires_at, NEW.is_active, NEW.updated_at))
    EXECUTE FUNCTION note_entity();
DROP TRIGGER note_made ON submissions;
DROP TRIGGER note_deleted ON submissions;
DROP TRIGGER note_changed ON submissions;
DROP FUNCTION person_id;
ALTER TABLE entity_copy DROP COLUMN person_key;
DROP TRIGGER take_source ON access_links;
DROP FUNCTION take_source;
ALTER TABLE access_links DROP COLUMN utm, DROP COLUMN referrer;
