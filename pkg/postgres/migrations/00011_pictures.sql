-- Pictures that visitors see: the first page of a file, what an owner uploads in its place, logos.

-- +goose Up
-- Each is served to anybody who knows its id, and never changes: another picture has another id.
CREATE TABLE pictures (
    id              text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{32}$'), -- random: nobody can guess it
    account_id      uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
    kind            text NOT NULL CHECK (kind IN ('small', 'large', 'preview', 'logo')),
    lead_magnet_id  uuid,                     -- of this version of its file, or
    version         integer,
    generic_link_id uuid,                     -- uploaded for this link, or of the account
    content_type    text NOT NULL CHECK (content_type IN ('image/jpeg', 'image/png')),
    width           integer NOT NULL,         -- pixels
    height          integer NOT NULL,
    bytes           bytea NOT NULL,
    created_at      timestamptz(3) NOT NULL DEFAULT now(),
    CHECK ((lead_magnet_id IS NULL) = (version IS NULL)),
    CHECK (num_nonnulls(lead_magnet_id, generic_link_id) = CASE kind WHEN 'logo' THEN 0 ELSE 1 END),
    FOREIGN KEY (account_id, lead_magnet_id, version)
        REFERENCES lead_magnet_files (account_id, lead_magnet_id, version) ON DELETE CASCADE,
    FOREIGN KEY (account_id, generic_link_id) REFERENCES generic_links (account_id, id) ON DELETE CASCADE
);
ALTER TABLE pictures ALTER COLUMN bytes SET STORAGE EXTERNAL; -- JPEG and PNG are compressed already
CREATE UNIQUE INDEX pictures_file ON pictures (lead_magnet_id, version, kind) WHERE lead_magnet_id IS NOT NULL;
CREATE UNIQUE INDEX pictures_link ON pictures (generic_link_id, kind) WHERE generic_link_id IS NOT NULL;
CREATE UNIQUE INDEX pictures_logo ON pictures (account_id) WHERE kind = 'logo';
ALTER TABLE pictures ENABLE ROW LEVEL SECURITY;
CREATE POLICY account ON pictures TO lodestone_account
    USING (account_id = current_setting('lodestone.account_id')::uuid)
    WITH CHECK (account_id = current_setting('lodestone.account_id')::uuid);
GRANT SELECT, INSERT, UPDATE, DELETE ON pictures TO lodestone_account;

-- Whether it was tried to make pictures of a file. It is false for those that are older than this.
ALTER TABLE lead_magnet_files ADD COLUMN pictured boolean NOT NULL DEFAULT false;
CREATE INDEX lead_magnet_files_unpictured ON lead_magnet_files (lead_magnet_id, version) WHERE NOT pictured;

-- Path of the uploaded picture that stands where thumbnail_url would: at most one of the two is set.
ALTER TABLE generic_links ADD COLUMN thumbnail_picture text,
    ADD CHECK (num_nonnulls(thumbnail_url, thumbnail_picture) <= 1);

-- +goose Down
ALTER TABLE generic_links DROP COLUMN thumbnail_picture;
ALTER TABLE lead_magnet_files DROP COLUMN pictured;
DROP TABLE pictures;
