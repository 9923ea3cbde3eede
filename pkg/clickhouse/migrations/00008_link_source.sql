-- How the URL of an access link was handed out, for SQL users as in the API.

-- +goose Up
ALTER TABLE lodestone.access_links ADD COLUMN IF NOT EXISTS source LowCardinality(String) AFTER email; -- empty: not copied yet

CREATE OR REPLACE VIEW analytics.access_links
    DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
    account_id,
    lead_magnet_id,
    generic_link_id,
    id AS access_link_id,
    email,
    toUInt32(max_views) AS max_views,
    expires_at,
    is_active,
    created_at,
    updated_at,
    source
FROM lodestone.access_links FINAL;

-- +goose Down
CREATE OR REPLACE VIEW analytics.access_links
    DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
    account_id,
    lead_magnet_id,
    generic_link_id,
    id AS access_link_id,
    email,
    toUInt32(max_views) AS max_views,
    expires_at,
    is_active,
    created_at,
    updated_at
FROM lodestone.access_links FINAL;
ALTER TABLE lodestone.access_links DROP COLUMN source;
