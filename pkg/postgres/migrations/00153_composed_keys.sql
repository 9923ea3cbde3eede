-- One person has one key: keys of addresses are in normal form C, as email.Key makes them. Few rows have another one, and no others are
-- written or locked. Where only one row may have a key, the others keep theirs. The address that is shown is written as well: by its change,
-- a row is copied to ClickHouse again, with the id of the person.

-- +goose Up
-- +goose StatementBegin
DO $$
DECLARE
    r record;
BEGIN
    FOR r IN SELECT id, normalize(email) AS email, normalize(email_key) AS email_key FROM access_links WHERE email_key IS NOT NFC NORMALIZED LOOP
        UPDATE access_links SET email = r.email, email_key = r.email_key WHERE id = r.id;
    END LOOP;
    FOR r IN SELECT id, generic_link_id, normalize(email) AS email, normalize(email_key) AS email_key FROM submissions
        WHERE email_key IS NOT NFC NORMALIZED ORDER BY id
    LOOP
        UPDATE submissions SET email = r.email, email_key = r.email_key WHERE id = r.id
            AND NOT EXISTS (SELECT FROM submissions o WHERE o.generic_link_id = r.generic_link_id AND o.email_key = r.email_key);
    END LOOP;
    FOR r IN SELECT id, normalize(email) AS email, normalize(email_key) AS email_key FROM users WHERE email_key IS NOT NFC NORMALIZED ORDER BY id LOOP
        UPDATE users SET email = r.email, email_key = r.email_key WHERE id = r.id AND NOT EXISTS (SELECT FROM users o WHERE o.email_key = r.email_key);
    END LOOP;
    FOR r IN SELECT id, account_id, normalize(email) AS email, normalize(email_key) AS email_key FROM invitations
        WHERE email_key IS NOT NFC NORMALIZED ORDER BY id
    LOOP
        UPDATE invitations SET email = r.email, email_key = r.email_key WHERE id = r.id
            AND NOT EXISTS (SELECT FROM invitations o WHERE o.account_id = r.account_id AND o.email_key = r.email_key);
    END LOOP;
END
$$;
-- +goose StatementEnd

-- +goose Down
