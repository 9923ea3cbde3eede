-- That this database came from a backup (`lodestone restore`). Until the operator resumes, no mail, message or webhook leaves it, since
-- those that waited at the time of the backup may have left since.

-- +goose Up
CREATE TABLE restored (
    one         boolean PRIMARY KEY DEFAULT true CHECK (one), -- there is one row, of the last restore
    backup      text NOT NULL,
    taken_at    timestamptz(3) NOT NULL,                      -- the state that was restored
    restored_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
    resumed_at  timestamptz(3)                                -- null: paused
);

-- A number that Postgres and ClickHouse have in common, which rises every minute. If one of them was restored to another time than the other, the
-- numbers are apart.
CREATE TABLE store_pulse (
    one          boolean PRIMARY KEY DEFAULT true CHECK (one), -- there is one row
    installation uuid NOT NULL DEFAULT gen_random_uuid(),
    number       bigint NOT NULL DEFAULT 0,
    beat_at      timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);
INSERT INTO store_pulse DEFAULT VALUES;

-- +goose Down
DROP TABLE store_pulse;
DROP TABLE restored;
