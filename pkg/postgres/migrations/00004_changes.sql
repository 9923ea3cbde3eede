-- What changing entities, and listing many of them, takes.

-- +goose Up
-- The revision counts the changes that were asked for, and is what If-Match compares. Counters that
-- are set meanwhile do not raise it.
ALTER TABLE lead_magnets ADD COLUMN revision bigint NOT NULL DEFAULT 1;
ALTER TABLE generic_links ADD COLUMN revision bigint NOT NULL DEFAULT 1;
ALTER TABLE access_links ADD COLUMN revision bigint NOT NULL DEFAULT 1;

-- Which key made a key, so that after a leak one can see what else has to go. It has no foreign
-- key: keys are revoked, and never deleted while their account lives.
ALTER TABLE api_keys ADD COLUMN created_by uuid;
GRANT SELECT (created_by) ON api_keys TO lodestone_account;

-- For exact totals. Its keys have few different values, so it takes about seven bytes a row, and
-- counting reads little else.
CREATE INDEX access_links_count ON access_links (account_id, lead_magnet_id, is_active);

-- With the account, which every query is limited to, a count is answered from the index alone.
DROP INDEX submissions_newest;
CREATE INDEX submissions_newest ON submissions (account_id, generic_link_id, submitted_at DESC, id DESC);

-- +goose Down
DROP INDEX submissions_newest;
CREATE INDEX submissions_newest ON submissions (generic_link_id, submitted_at DESC, id DESC);
DROP INDEX access_links_count;
ALTER TABLE api_keys DROP COLUMN created_by;
ALTER TABLE access_links DROP COLUMN revision;
ALTER TABLE generic_links DROP COLUMN revision;
ALTER TABLE lead_magnets DROP COLUMN revision;
