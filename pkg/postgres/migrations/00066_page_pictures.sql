-- Small pictures of the pages of documents, for those who publish them. They are made when they are first asked for.

-- +goose Up
CREATE TABLE page_pictures (
    lead_magnet_id uuid NOT NULL,
    version        integer NOT NULL,
    page           integer NOT NULL CHECK (page BETWEEN 1 AND 300),
    account_id     uuid NOT NULL,
    content_type   text NOT NULL CHECK (content_type IN ('image/jpeg', 'image/png')),
    bytes          bytea,          -- null: the page cannot be rendered
    created_at     timestamptz(3) NOT NULL DEFAULT now(),
    PRIMARY KEY (lead_magnet_id, version, page),
    FOREIGN KEY (account_id, lead_magnet_id, version)
        REFERENCES lead_magnet_files (account_id, lead_magnet_id, version) ON DELETE CASCADE
);
ALTER TABLE page_pictures ALTER COLUMN bytes SET STORAGE EXTERNAL; -- JPEG and PNG are compressed already

ALTER TABLE page_pictures ENABLE ROW LEVEL SECURITY;
CREATE POLICY account ON page_pictures TO lodestone_account
    USING (account_id = current_setting('lodestone.account_id')::uuid)
    WITH CHECK (account_id = current_setting('lodestone.account_id')::uuid);
GRANT SELECT, INSERT, DELETE ON page_pictures TO lodestone_account;

-- +goose Down
DROP TABLE page_pictures;
