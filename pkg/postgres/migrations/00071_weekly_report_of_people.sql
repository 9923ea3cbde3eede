-- The weekly report goes to each of an account's people who wants it.

-- +goose Up
-- null: as the role has it by default, which is on for owners.
ALTER TABLE memberships ADD COLUMN weekly_report boolean;
GRANT UPDATE (weekly_report) ON memberships TO lodestone_account;

-- +goose Down
ALTER TABLE memberships DROP COLUMN weekly_report;
