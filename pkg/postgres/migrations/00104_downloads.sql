-- Whether readers may download a document from its reading page.

-- +goose Up
ALTER TABLE lead_magnets ADD COLUMN downloadable boolean NOT NULL DEFAULT true;

-- +goose Down
ALTER TABLE lead_magnets DROP COLUMN downloadable;
