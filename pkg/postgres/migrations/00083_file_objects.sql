-- Files of documents may be stored as objects of an S3-compatible store instead of as chunks. An object is on record before it is
-- written, so one that no file uses is found and removed.

-- +goose Up
CREATE TABLE file_objects (
    id         uuid PRIMARY KEY,
    account_id uuid NOT NULL,  -- no reference: the object is removed after the account
    created_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX file_objects_oldest ON file_objects (created_at, id);
ALTER TABLE file_objects ENABLE ROW LEVEL SECURITY;
CREATE POLICY account ON file_objects TO lodestone_account
    USING (account_id = current_setting('lodestone.account_id')::uuid)
    WITH CHECK (account_id = current_setting('lodestone.account_id')::uuid);
GRANT SELECT, INSERT ON file_objects TO lodestone_account;

-- Objects that no file uses any more, until the store has removed them.
CREATE TABLE file_removals (
    id uuid PRIMARY KEY
);

ALTER TABLE lead_magnet_files ADD COLUMN object_id uuid REFERENCES file_objects; -- null: the chunks hold the file
CREATE UNIQUE INDEX lead_magnet_files_object ON lead_magnet_files (object_id) WHERE object_id IS NOT NULL;

-- +goose Down
ALTER TABLE lead_magnet_files DROP COLUMN object_id;
DROP TABLE file_removals;
DROP TABLE file_objects;
