-- A slug belongs to the account that used it first, for good: its address is printed and mailed, and whoever
-- could take it would get the visitors.

-- +goose Up
ALTER TABLE retired_slugs ADD COLUMN owner uuid; -- account; null: not known, so no account can take the slug
UPDATE retired_slugs r SET owner = g.account_id FROM generic_links g WHERE g.slug = r.slug;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION retire_slug() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO retired_slugs (slug, owner) VALUES (OLD.slug, OLD.account_id) ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION slug_of_another(wanted text, account uuid) RETURNS boolean LANGUAGE sql STABLE
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT EXISTS (SELECT FROM retired_slugs WHERE slug = wanted AND owner IS DISTINCT FROM account)
$$;
-- +goose StatementEnd
-- After the row is there, since a link with the slug may have been deleted while the insert waited for it.
-- +goose StatementBegin
CREATE FUNCTION keep_slug() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF slug_of_another(NEW.slug, NEW.account_id) THEN
        RAISE unique_violation USING MESSAGE = 'the slug belongs to another account', CONSTRAINT = 'generic_links_slug';
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER keep_slug AFTER INSERT ON generic_links FOR EACH ROW EXECUTE FUNCTION keep_slug();
CREATE TRIGGER keep_changed_slug AFTER UPDATE OF slug ON generic_links FOR EACH ROW
    WHEN (OLD.slug <> NEW.slug) EXECUTE FUNCTION keep_slug();

-- +goose Down
DROP TRIGGER keep_changed_slug ON generic_links;
DROP TRIGGER keep_slug ON generic_links;
DROP FUNCTION keep_slug;
DROP FUNCTION slug_of_another;
ALTER TABLE retired_slugs DROP COLUMN owner;
