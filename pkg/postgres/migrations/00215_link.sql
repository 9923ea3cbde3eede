-- +goose Up

-- What the account calls a link, which its page does not say; null: nothing.
ALTER TABLE generic_links ADD COLUMN name text;
-- The lists leave it out unless asked, and its page is closed: active is false.
ALTER TABLE generic_links ADD COLUMN archived boolean NOT NULL DEFAULT false;
-- A second headline, which every other visitor sees; null: all see one. And when the two, as they are, began to be compared; null: when
-- the link was created. A submission says whether its visitor saw the second one; null: there was one.
ALTER TABLE generic_links ADD COLUMN headline_b text;
ALTER TABLE generic_links ADD COLUMN headlines_since timestamptz(3);
ALTER TABLE submissions ADD COLUMN headline_b boolean;

-- Adds a link with every setting of another, and returns true, unless the slug is taken. The record is copied as a whole, so a column that
-- a later migration adds is copied too, unless it is named here. An uploaded picture has an address of its own, and is copied apart.
-- +goose StatementBegin
CREATE FUNCTION copy_generic_link(source uuid, copy uuid, new_slug text) RETURNS boolean LANGUAGE sql
    SET search_path FROM CURRENT AS $$
    INSERT INTO generic_links
    SELECT (jsonb_populate_record(g, jsonb_build_object(
        'id', copy, 'slug', new_slug, 'name', left(coalesce(g.name, g.title, m.title), 93) || ' (copy)', 'submission_count', 0,
        'active', true, 'archived', false, 'expires_at', CASE WHEN g.expires_at > now() THEN g.expires_at END,
        'thumbnail_picture', NULL, 'headlines_since', NULL, 'created_at', now(), 'updated_at', now(), 'revision', 1))).*
    FROM generic_links g JOIN lead_magnets m ON m.account_id = g.account_id AND m.id = g.lead_magnet_id
    WHERE g.id = source AND NOT slug_of_another(new_slug, g.account_id)
    ON CONFLICT ON CONSTRAINT generic_links_slug DO NOTHING
    RETURNING true
$$;
-- +goose StatementEnd
