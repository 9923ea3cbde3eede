-- What an account knows of a person beside what they did: a name, a status, a note.

-- +goose Up
ALTER TABLE accounts
    ADD COLUMN open_statuses text[] NOT NULL DEFAULT '{New,In touch}',
    ADD COLUMN closed_statuses text[] NOT NULL DEFAULT '{Won,Not a fit}'; -- of people whom no one has to call any more

CREATE TABLE profiles (
    account_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
    email_key  text NOT NULL,
    name       text,                    -- null: that of the newest form
    status     text,                    -- null: the first of the account's
    note       text,
    revision   bigint NOT NULL DEFAULT 2, -- 1 is that of a person without a profile
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    updated_at timestamptz(3) NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, email_key)
);
-- Statistics hold values of rows, and those of an emptied table stay.
ALTER TABLE profiles
    ALTER COLUMN email_key SET STATISTICS 0, ALTER COLUMN name SET STATISTICS 0, ALTER COLUMN note SET STATISTICS 0;

-- What a person is called: as the account wrote it down, or as in the newest form that gave a link. Null: no name is known.
CREATE FUNCTION person_name(account uuid, key text) RETURNS text LANGUAGE sql STABLE
    SET search_path FROM CURRENT
    RETURN coalesce(
        (SELECT p.name FROM profiles p WHERE p.account_id = account AND p.email_key = key),
        (SELECT s.name FROM access_links a
            JOIN submissions s ON s.account_id = a.account_id AND s.id = a.submission_id
            JOIN generic_links g ON g.account_id = s.account_id AND g.id = s.generic_link_id
            WHERE a.account_id = account AND a.email_key = key AND s.name IS NOT NULL AND g.collect_name
            ORDER BY s.submitted_at DESC, s.id DESC LIMIT 1));

-- A text as searches compare it: in lower case and without accents.
CREATE FUNCTION search_text(words text) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN octet_length(words) = length(words) THEN lower(words)
        ELSE lower(regexp_replace(normalize(words, NFKD), '[\u0300-\u036f]', '', 'g')) END;
