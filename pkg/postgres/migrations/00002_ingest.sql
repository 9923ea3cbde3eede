-- What the ingestion keeps in Postgres.

-- +goose Up
-- The salts of the address hash, one a UTC day. Unlogged: they are in no write-ahead log and no
-- replica; a row is destroyed 48 h after its day began.
CREATE UNLOGGED TABLE ip_salts (
    day  date PRIMARY KEY,
    salt bytea NOT NULL CHECK (octet_length(salt) = 32)
);

-- How far the counters of links reflect the stored events: everything below next_offset.
CREATE TABLE counter_progress (
    topic_id    uuid NOT NULL,
    partition   integer NOT NULL,
    next_offset bigint NOT NULL,
    PRIMARY KEY (topic_id, partition)
);

-- +goose Down
DROP TABLE counter_progress, ip_salts;
