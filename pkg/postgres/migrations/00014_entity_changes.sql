-- Which lead magnets and links ClickHouse's copies of them lack (package ingest/mirror). Each change
-- leaves a row in its own transaction; who copies the state of then takes the row away. No row has
-- anything of an account, and only functions of the tables' owner write here.

-- +goose Up
CREATE TABLE entity_changes (
    number     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    entity     text COLLATE "C" NOT NULL, -- name of the table
    id         uuid NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- The copies' versions. Never set back, not even by a transaction that fails.
CREATE SEQUENCE entity_version;

-- One row: how the copies are made.
CREATE TABLE entity_copy (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    emails boolean NOT NULL DEFAULT false, -- addresses are copied
    purge  boolean NOT NULL DEFAULT false  -- addresses that were copied are still on ClickHouse's disk
);
INSERT INTO entity_copy DEFAULT VALUES;

-- +goose StatementBegin
CREATE FUNCTION note_entities() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO entity_changes (entity, id) SELECT TG_TABLE_NAME, id FROM changed;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION note_entity() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO entity_changes (entity, id) VALUES (TG_TABLE_NAME, NEW.id);
    RETURN NULL;
END
$$;
-- +goose StatementEnd

CREATE TRIGGER note_made AFTER INSERT ON lead_magnets
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_entities();
CREATE TRIGGER note_deleted AFTER DELETE ON lead_magnets
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_entities();
CREATE TRIGGER note_made AFTER INSERT ON generic_links
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_entities();
CREATE TRIGGER note_deleted AFTER DELETE ON generic_links
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_entities();
CREATE TRIGGER note_made AFTER INSERT ON access_links
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_entities();
CREATE TRIGGER note_deleted AFTER DELETE ON access_links
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_entities();

-- Changes of what is copied. Counters of views change all the time and are not.
CREATE TRIGGER note_changed AFTER UPDATE ON lead_magnets FOR EACH ROW
    WHEN (ROW(OLD.title, OLD.description, OLD.is_active, OLD.file_version, OLD.updated_at)
        IS DISTINCT FROM ROW(NEW.title, NEW.description, NEW.is_active, NEW.file_version, NEW.updated_at))
    EXECUTE FUNCTION note_entity();
CREATE TRIGGER note_changed AFTER UPDATE ON generic_links FOR EACH ROW
    WHEN (ROW(OLD.slug, OLD.title, OLD.active, OLD.require_verification, OLD.submission_count, OLD.updated_at)
        IS DISTINCT FROM ROW(NEW.slug, NEW.title, NEW.active, NEW.require_verification, NEW.submission_count, NEW.updated_at))
    EXECUTE FUNCTION note_entity();
CREATE TRIGGER note_changed AFTER UPDATE ON access_links FOR EACH ROW
    WHEN (ROW(OLD.generic_link_id, OLD.email, OLD.max_views, OLD.expires_at, OLD.is_active, OLD.updated_at)
        IS DISTINCT FROM ROW(NEW.generic_link_id, NEW.email, NEW.max_views, NEW.expires_at, NEW.is_active, NEW.updated_at))
    EXECUTE FUNCTION note_entity();

INSERT INTO entity_changes (entity, id)
    SELECT 'lead_magnets', id FROM lead_magnets
    UNION ALL SELECT 'generic_links', id FROM generic_links
    UNION ALL SELECT 'access_links', id FROM access_links;

-- +goose Down
DROP TRIGGER note_made ON lead_magnets;
DROP TRIGGER note_deleted ON lead_magnets;
DROP TRIGGER note_changed ON lead_magnets;
DROP TRIGGER note_made ON generic_links;
DROP TRIGGER note_deleted ON generic_links;
DROP TRIGGER note_changed ON generic_links;
DROP TRIGGER note_made ON access_links;
DROP TRIGGER note_deleted ON access_links;
DROP TRIGGER note_changed ON access_links;
DROP FUNCTION note_entity;
DROP FUNCTION note_entities;
DROP TABLE entity_copy;
DROP SEQUENCE entity_version;
DROP TABLE entity_changes;
