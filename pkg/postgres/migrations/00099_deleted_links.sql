-- Access links and submissions that were deleted, with the person whose they were: their events stay, and an erasure has to find them.

-- +goose Up
CREATE TABLE deleted_links (
    id         uuid PRIMARY KEY,                                 -- of an access link or a submission
    account_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
    person_id  uuid NOT NULL,                                    -- as person_id() made it: the address is not kept
    submission boolean NOT NULL,
    deleted_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX deleted_links_person ON deleted_links (person_id);
CREATE INDEX deleted_links_account ON deleted_links (account_id);

ALTER TABLE deleted_links ENABLE ROW LEVEL SECURITY;
CREATE POLICY account ON deleted_links TO lodestone_account
    USING (account_id = current_setting('lodestone.account_id')::uuid)
    WITH CHECK (account_id = current_setting('lodestone.account_id')::uuid);
GRANT SELECT, DELETE ON deleted_links TO lodestone_account; -- an erasure takes them

-- note_deleted_links runs with the rights of the owner: accounts cannot make ids of people. With a deleted account nothing is noted, since
-- its events are found by its own id.
-- +goose StatementBegin
CREATE FUNCTION note_deleted_links() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO deleted_links (id, account_id, person_id, submission)
    SELECT d.id, d.account_id, person_id(d.account_id, d.email_key), TG_TABLE_NAME = 'submissions'
    FROM deleted d JOIN accounts a ON a.id = d.account_id
    ON CONFLICT (id) DO NOTHING;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER note_deleted_links AFTER DELETE ON access_links
    REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION note_deleted_links();
CREATE TRIGGER note_deleted_links AFTER DELETE ON submissions
    REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION note_deleted_links();

-- +goose Down
DROP TRIGGER note_deleted_links ON access_links;
DROP TRIGGER note_deleted_links ON submissions;
DROP FUNCTION note_deleted_links;
DROP TABLE deleted_links;
