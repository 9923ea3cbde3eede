-- What opened something and does so no more, until it is on record outside the databases (package crud/revocation), so that a restored
-- database of before does not open it again. Only functions of the tables' owner write here.

-- +goose Up
CREATE TABLE revocations (
    number     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    entity     text COLLATE "C" NOT NULL, -- name of the table
    id         uuid NOT NULL,
    account    uuid,                      -- of a membership, whose id is the user's
    deleted    boolean NOT NULL,          -- false: it was switched off
    revoked_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);

-- One row: the newest entry of the record that this database knows.
CREATE TABLE revocation_log (
    one    boolean PRIMARY KEY DEFAULT true CHECK (one),
    newest text COLLATE "C" NOT NULL
);
INSERT INTO revocation_log (newest) VALUES ('');

-- +goose StatementBegin
CREATE FUNCTION note_revoked() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO revocations (entity, id, deleted) VALUES (TG_TABLE_NAME, NEW.id, false);
    RETURN NULL;
END
$$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION note_revoked_deleted() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO revocations (entity, id, deleted) SELECT TG_TABLE_NAME, id, true FROM deleted;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION note_revoked_members() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO revocations (entity, id, account, deleted) SELECT TG_TABLE_NAME, user_id, account_id, true FROM deleted;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

CREATE TRIGGER note_revoked AFTER UPDATE OF is_active ON access_links FOR EACH ROW
    WHEN (OLD.is_active AND NOT NEW.is_active) EXECUTE FUNCTION note_revoked();
CREATE TRIGGER note_revoked AFTER UPDATE OF is_active ON lead_magnets FOR EACH ROW
    WHEN (OLD.is_active AND NOT NEW.is_active) EXECUTE FUNCTION note_revoked();
CREATE TRIGGER note_revoked AFTER UPDATE OF active ON generic_links FOR EACH ROW
    WHEN (OLD.active AND NOT NEW.active) EXECUTE FUNCTION note_revoked();
CREATE TRIGGER note_revoked AFTER UPDATE OF is_active ON webhook_endpoints FOR EACH ROW
    WHEN (OLD.is_active AND NOT NEW.is_active) EXECUTE FUNCTION note_revoked();
CREATE TRIGGER note_revoked AFTER UPDATE OF is_active ON chat_channels FOR EACH ROW
    WHEN (OLD.is_active AND NOT NEW.is_active) EXECUTE FUNCTION note_revoked();
CREATE TRIGGER note_revoked AFTER UPDATE OF revoked_at ON api_keys FOR EACH ROW
    WHEN (OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL) EXECUTE FUNCTION note_revoked();

CREATE TRIGGER note_revoked_deleted AFTER DELETE ON access_links
    REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION note_revoked_deleted();
CREATE TRIGGER note_revoked_deleted AFTER DELETE ON lead_magnets
    REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION note_revoked_deleted();
CREATE TRIGGER note_revoked_deleted AFTER DELETE ON generic_links
    REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION note_revoked_deleted();
CREATE TRIGGER note_revoked_deleted AFTER DELETE ON webhook_endpoints
    REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION note_revoked_deleted();
CREATE TRIGGER note_revoked_deleted AFTER DELETE ON chat_channels
    REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION note_revoked_deleted();
CREATE TRIGGER note_revoked_deleted AFTER DELETE ON shares
    REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION note_revoked_deleted();
CREATE TRIGGER note_revoked_deleted AFTER DELETE ON memberships
    REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION note_revoked_members();
CREATE TRIGGER note_revoked_deleted AFTER DELETE ON invitations
    REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION note_revoked_deleted();

-- +goose Down
DROP FUNCTION note_revoked() CASCADE;
DROP FUNCTION note_revoked_deleted() CASCADE;
DROP FUNCTION note_revoked_members() CASCADE;
DROP TABLE revocation_log;
DROP TABLE revocations;
