-- The generic links that a list chooses, said once.

-- +goose Up

-- Null is any; without a status those that are not archived. It has no search_path of its own, so that the planner puts its text in the place of
-- the call: a list stays a scan of an index.
CREATE FUNCTION chosen_links(lead_magnet uuid, status text, containing text) RETURNS SETOF generic_links LANGUAGE sql STABLE
AS $$
    SELECT l.* FROM generic_links l
    WHERE (lead_magnet IS NULL OR l.lead_magnet_id = lead_magnet)
        AND CASE status WHEN 'all' THEN true WHEN 'archived' THEN l.archived
            WHEN 'open' THEN l.active AND coalesce(l.expires_at > now(), true)
            WHEN 'closed' THEN NOT l.archived AND NOT (l.active AND coalesce(l.expires_at > now(), true))
            ELSE NOT l.archived END
        AND (containing IS NULL OR strpos(lower(concat_ws(chr(10), l.slug, l.name, l.title)), lower(containing)) > 0
            OR l.lead_magnet_id IN (SELECT m.id FROM lead_magnets m WHERE strpos(lower(m.title), lower(containing)) > 0))
$$;
