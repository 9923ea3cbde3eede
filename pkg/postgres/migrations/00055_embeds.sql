-- Forms of generic links on other sites: where they may stand, and where they were last seen.

-- +goose Up
ALTER TABLE generic_links ADD COLUMN allowed_origins text[] NOT NULL DEFAULT '{}';

CREATE TABLE embeds (
    generic_link_id uuid PRIMARY KEY,
    account_id      uuid NOT NULL,
    seen_origin     text,           -- an allowed one
    seen_at         timestamptz(3),
    refused_origin  text,           -- one that is not allowed
    refused_at      timestamptz(3),
    FOREIGN KEY (account_id, generic_link_id) REFERENCES generic_links (account_id, id) ON DELETE CASCADE
);

ALTER TABLE embeds ENABLE ROW LEVEL SECURITY;
CREATE POLICY account ON embeds TO lodestone_account
    USING (account_id = current_setting('lodestone.account_id')::uuid)
    WITH CHECK (account_id = current_setting('lodestone.account_id')::uuid);
GRANT SELECT, INSERT, UPDATE ON embeds TO lodestone_account;

-- +goose Down
DROP TABLE embeds;
ALTER TABLE generic_links DROP COLUMN allowed_origins;
