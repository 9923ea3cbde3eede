-- Offers that end, and personal links that a form gives for a time.

-- +goose Up
ALTER TABLE generic_links
    ADD COLUMN expires_at  timestamptz(3),                               -- null: never
    ADD COLUMN access_days integer CHECK (access_days BETWEEN 1 AND 3650); -- that links given by the form work; null: for ever

-- +goose Down
ALTER TABLE generic_links DROP COLUMN expires_at, DROP COLUMN access_days;
