-- The language of the form that began a verification: its mails are in it, wherever they are sent from.

-- +goose Up
ALTER TABLE verifications ADD COLUMN language text NOT NULL DEFAULT 'en';

-- +goose Down
ALTER TABLE verifications DROP COLUMN language;
