-- +goose Up

-- What a person is called: as the account wrote it down, as in the newest form that gave a link, or as in the newest list of recipients.
-- Null: no name is known.
CREATE OR REPLACE FUNCTION person_name(account uuid, key text) RETURNS text LANGUAGE sql STABLE
    SET search_path FROM CURRENT
    RETURN coalesce(
        (SELECT p.name FROM profiles p WHERE p.account_id = account AND p.email_key = key),
        (SELECT s.name FROM access_links a
            JOIN submissions s ON s.account_id = a.account_id AND s.id = a.submission_id
            JOIN generic_links g ON g.account_id = s.account_id AND g.id = s.generic_link_id
            WHERE a.account_id = account AND a.email_key = key AND s.name IS NOT NULL AND g.collect_name
            ORDER BY s.submitted_at DESC, s.id DESC LIMIT 1),
        (SELECT r.name FROM access_links a JOIN recipients r ON r.account_id = a.account_id AND r.id = a.id
            WHERE a.account_id = account AND a.email_key = key AND r.name IS NOT NULL
            ORDER BY r.added_at DESC, r.id DESC LIMIT 1));
