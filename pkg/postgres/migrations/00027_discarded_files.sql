-- Old versions of files, whose bytes are deleted when no session reads them any more. The row stays: it says what the file was.

-- +goose Up
ALTER TABLE lead_magnet_files ADD COLUMN discarded_at timestamptz(3);
CREATE INDEX lead_magnet_files_stored ON lead_magnet_files (account_id) INCLUDE (file_size) WHERE discarded_at IS NULL;

-- +goose Down
DROP INDEX lead_magnet_files_stored;
ALTER TABLE lead_magnet_files DROP COLUMN discarded_at;
