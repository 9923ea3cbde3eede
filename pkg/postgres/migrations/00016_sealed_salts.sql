-- pg_dump writes unlogged tables, too. So salts are encrypted under a key that is not in the database.

-- +goose Up
-- The salts that were kept in clear are destroyed: they are in no dump that is made from now on. A collector of the release
-- before, which runs on, goes on with those in its memory, and can write none in clear any more.
DROP TABLE ip_salts;

-- The salts of the address hash, one a UTC day, encrypted under a key derived from the token keys. Unlogged: they are in no
-- write-ahead log and no replica; a row is destroyed 48 h after its day began.
CREATE UNLOGGED TABLE ip_salts (
    day    date PRIMARY KEY,
    sealed bytea NOT NULL CHECK (octet_length(sealed) = 60)
);

-- +goose Down
DROP TABLE ip_salts;
CREATE UNLOGGED TABLE ip_salts (
    day  date PRIMARY KEY,
    salt bytea NOT NULL CHECK (octet_length(salt) = 32)
);
