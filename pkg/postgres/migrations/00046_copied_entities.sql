-- The rows that ClickHouse has copies of (package ingest/mirror), each with all that is copied as one text: what it is
-- compared by. Times are milliseconds since 1970. An address is part of it only if addresses are copied.

-- +goose Up
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

-- +goose Down
DROP VIEW copied_entities;
