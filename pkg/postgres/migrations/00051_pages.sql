-- What visitors see and read of an account: its language, its time zone, its typeface, and blocks of landing pages.

-- +goose Up
ALTER TABLE accounts
    ADD COLUMN language   text CHECK (language IN ('en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'pl')), -- null: the visitor's own
    ADD COLUMN timezone   text NOT NULL DEFAULT 'UTC',            -- IANA name
    ADD COLUMN brand_font text NOT NULL DEFAULT 'system' CHECK (brand_font IN ('system', 'inter'));
GRANT UPDATE (language, timezone, brand_font) ON accounts TO lodestone_account;

ALTER TABLE generic_links
    ADD COLUMN language      text CHECK (language IN ('en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'pl')), -- null: the account's
    ADD COLUMN show_contents boolean NOT NULL DEFAULT true,       -- the document's table of contents
    ADD COLUMN show_pages    boolean NOT NULL DEFAULT true,       -- pictures of inside pages, blurred
    ADD COLUMN show_readers  boolean NOT NULL DEFAULT false;      -- how many people read the document

ALTER TABLE lead_magnets
    ADD COLUMN author       text,
    ADD COLUMN author_about text,
    ADD COLUMN end_text     text,                                 -- what the reader shows behind the last page
    ADD COLUMN end_button   text,
    ADD COLUMN end_url      text,
    ADD CHECK ((end_button IS NULL) = (end_url IS NULL));

-- The table of contents: an array of objects with level, title and page. Null: the file has none.
ALTER TABLE lead_magnet_files ADD COLUMN outline jsonb;

-- Inside pages, blurred so that no text can be read.
ALTER TABLE pictures DROP CONSTRAINT pictures_kind_check,
    ADD CONSTRAINT pictures_kind_check CHECK (kind IN ('small', 'large', 'preview', 'logo', 'inside1', 'inside2', 'inside3'));

-- Older files get their table of contents, inside pages, and covers without half-covered edges.
UPDATE lead_magnet_files SET pictured = false WHERE discarded_at IS NULL;

-- +goose Down
DELETE FROM pictures WHERE kind IN ('inside1', 'inside2', 'inside3');
ALTER TABLE pictures DROP CONSTRAINT pictures_kind_check,
    ADD CONSTRAINT pictures_kind_check CHECK (kind IN ('small', 'large', 'preview', 'logo'));
ALTER TABLE lead_magnet_files DROP COLUMN outline;
ALTER TABLE lead_magnets DROP COLUMN author, DROP COLUMN author_about, DROP COLUMN end_text, DROP COLUMN end_button, DROP COLUMN end_url;
ALTER TABLE generic_links DROP COLUMN language, DROP COLUMN show_contents, DROP COLUMN show_pages, DROP COLUMN show_readers;
ALTER TABLE accounts DROP COLUMN language, DROP COLUMN timezone, DROP COLUMN brand_font;
