-- Sessions of programs that say so. They count as no opening.

-- +goose Up
ALTER TABLE sessions ADD COLUMN bot boolean NOT NULL DEFAULT false;

-- +goose Down
ALTER TABLE sessions DROP COLUMN bot;
