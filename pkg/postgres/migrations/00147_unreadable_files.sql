-- The page of a file that a reader's browser could not show, 0 for the whole document. Null: no browser said so.

-- +goose Up
ALTER TABLE lead_magnet_files ADD COLUMN unreadable_page integer;

-- +goose Down
ALTER TABLE lead_magnet_files DROP COLUMN unreadable_page;
