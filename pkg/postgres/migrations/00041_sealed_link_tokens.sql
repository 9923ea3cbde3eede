-- pg_dump writes the tokens of access links, each of which opens a document as its recipient. So a link keeps a hash of its token, to be
-- found by, and the token encrypted under a key that is not in the database (package crud/accesslink), to be shown and mailed.

-- +goose Up
-- SQL has no keys: crud seals the tokens that exist when it starts, a batch at a time. Until then a link is found by the same index.
-- A program of the release before finds no column token, and opens no link.
ALTER TABLE access_links RENAME COLUMN token TO token_clear;
ALTER TABLE access_links
    ALTER COLUMN token_clear DROP NOT NULL,
    ADD COLUMN token_hash   bytea CHECK (octet_length(token_hash) = 32), -- SHA-256: a token has 130 random bits
    ADD COLUMN token_sealed bytea,
    ADD COLUMN token_key    smallint NOT NULL DEFAULT -1, -- id of the token key that sealed it; -1: none did
    ADD CONSTRAINT access_links_token_form CHECK (num_nonnulls(token_hash, token_sealed) = CASE WHEN token_clear IS NULL THEN 2 ELSE 0 END
        AND (token_clear IS NULL) = (token_key >= 0)),
    DROP CONSTRAINT access_links_token_key; -- uniqueness of the tokens in clear, which the hash has as well
DROP INDEX access_links_token_hash;
CREATE UNIQUE INDEX access_links_token_hash ON access_links (coalesce(token_hash, sha256(token_clear::bytea)));
CREATE INDEX access_links_sealed_by ON access_links (token_key);

-- +goose Down
-- Sealed tokens cannot be opened here: their links go.
DELETE FROM access_links WHERE token_clear IS NULL;
DROP INDEX access_links_token_hash, access_links_sealed_by;
ALTER TABLE access_links DROP CONSTRAINT access_links_token_form, DROP COLUMN token_hash, DROP COLUMN token_sealed, DROP COLUMN token_key;
ALTER TABLE access_links ALTER COLUMN token_clear SET NOT NULL;
ALTER TABLE access_links RENAME COLUMN token_clear TO token;
ALTER TABLE access_links ADD UNIQUE (token);
CREATE UNIQUE INDEX access_links_token_hash ON access_links (sha256(token::bytea));
