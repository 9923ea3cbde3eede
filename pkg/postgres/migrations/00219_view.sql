-- Views: lists and reports of the dashboard, as an account named and keeps them.

-- +goose Up
CREATE TABLE views (
    id         uuid PRIMARY KEY,
    account_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
    screen     text NOT NULL,
    name       text NOT NULL,
    parameters jsonb NOT NULL, -- of the screen's address, lists by name
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    CONSTRAINT views_name UNIQUE (account_id, screen, name)
);
-- A search can name a person, and statistics hold values of rows.
ALTER TABLE views ALTER COLUMN parameters SET STATISTICS 0;
