-- The oldest release of the schema that programs must know to work with what is stored. A migration of any
-- store that programs of the release before cannot work with raises it; readiness compares it
-- (package pkg/postgres, release).

-- +goose Up
CREATE TABLE schema_floor (
    single  boolean PRIMARY KEY DEFAULT true CHECK (single), -- there is one row
    release integer NOT NULL
);
INSERT INTO schema_floor (release) VALUES (1);

-- +goose Down
DROP TABLE schema_floor;
