-- How far the look for stored events of people who were erased is (package ingest/erasure). It is one look over all processes.

-- +goose Up
CREATE TABLE erasure_look (
    one       boolean PRIMARY KEY DEFAULT true CHECK (one), -- there is one row
    looked_at timestamptz(3),                               -- when the last complete look began; null: there was none
    began_at  timestamptz(3),                               -- of the look under way; null: there is none
    after     uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000' -- the last link that it has looked for
);
INSERT INTO erasure_look DEFAULT VALUES;

-- +goose Down
DROP TABLE erasure_look;
