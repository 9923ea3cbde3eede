-- The daily mail about new leads.

-- +goose Up
-- Up to when an account's daily mails told of its leads. Setting it in the transaction that sends a mail
-- makes that mail the only one of its day.
ALTER TABLE accounts ADD COLUMN digest_until timestamptz NOT NULL DEFAULT now();
GRANT UPDATE (digest_until) ON accounts TO lodestone_account;
CREATE INDEX accounts_digest ON accounts (digest_until) WHERE notify = 'daily' AND notify_email IS NOT NULL;

-- When a submission became a lead: at once, or when its address was verified. Null: it is none yet.
CREATE INDEX submissions_leads ON submissions
    (account_id, (CASE WHEN verification_required THEN verified_at ELSE submitted_at END));

-- +goose Down
DROP INDEX submissions_leads;
DROP INDEX accounts_digest;
ALTER TABLE accounts DROP COLUMN digest_until;
