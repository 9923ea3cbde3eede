-- Capture: what landing pages ask and say, where a submission came from and how far it is, and how an
-- address is verified.

-- +goose Up
-- How an account's pages look, and who is told of new leads.
ALTER TABLE accounts
    ADD COLUMN brand_color  text CHECK (brand_color ~ '^#[0-9a-f]{6}$'),
    ADD COLUMN notify       text NOT NULL DEFAULT 'each' CHECK (notify IN ('each', 'daily', 'none')),
    ADD COLUMN notify_email text;             -- null: nobody is told
GRANT UPDATE (brand_color, notify, notify_email) ON accounts TO lodestone_account;

ALTER TABLE generic_links
    ADD COLUMN button_text  text,             -- null: words that say what happens
    ADD COLUMN consent_text text,             -- what a visitor has to agree to
    ADD COLUMN privacy_url  text,
    ADD COLUMN redirect_url text;             -- where the form leads; null: to the document

ALTER TABLE submissions
    ADD COLUMN verification_required boolean NOT NULL DEFAULT false,
    ADD COLUMN verified_at  timestamptz(3),
    ADD COLUMN utm          jsonb,            -- parameters of the landing page, such as utm_source
    ADD COLUMN referrer     text,             -- the page before it, without its query
    ADD COLUMN consent_text text,             -- what was agreed to, as it was shown
    ADD COLUMN privacy_url  text,
    ADD COLUMN consented_at timestamptz(3);

-- One try to verify the address of a submission; each submitting of the form begins one. It holds
-- nothing that opens anything: only the browser that submitted has the page's secret, and only the
-- mailbox has the link and the code.
CREATE TABLE verifications (
    id            uuid PRIMARY KEY,
    account_id    uuid NOT NULL,
    submission_id uuid NOT NULL,
    email         text NOT NULL,              -- as typed this time
    page_hash     bytea NOT NULL UNIQUE,      -- SHA-256 of the secret in the address of the waiting page
    link_hash     bytea NOT NULL UNIQUE,      -- SHA-256 of the secret in the mail's link
    code_hash     bytea NOT NULL,             -- SHA-256 of the page's secret and the code: useless without the former
    attempts      integer NOT NULL DEFAULT 0, -- codes that were tried
    mails         integer NOT NULL DEFAULT 1, -- that were sent
    sent_at       timestamptz(3) NOT NULL,    -- of the last one
    expires_at    timestamptz(3) NOT NULL,
    used_at       timestamptz(3),
    FOREIGN KEY (account_id, submission_id) REFERENCES submissions (account_id, id) ON DELETE CASCADE
);
CREATE INDEX verifications_submission ON verifications (account_id, submission_id);
CREATE INDEX verifications_oldest ON verifications (expires_at);
ALTER TABLE verifications ENABLE ROW LEVEL SECURITY;
CREATE POLICY account ON verifications TO lodestone_account
    USING (account_id = current_setting('lodestone.account_id')::uuid)
    WITH CHECK (account_id = current_setting('lodestone.account_id')::uuid);
GRANT SELECT, INSERT, UPDATE, DELETE ON verifications TO lodestone_account;

-- Slugs that led somewhere once: their visitors are told that it is gone, rather than that it never
-- was. A link that takes the slug again counts for more.
CREATE TABLE retired_slugs (
    slug       text PRIMARY KEY,
    retired_at timestamptz(3) NOT NULL DEFAULT now()
);
-- +goose StatementBegin
CREATE FUNCTION retire_slug() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO retired_slugs (slug) VALUES (OLD.slug) ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER retire_slug AFTER DELETE ON generic_links FOR EACH ROW EXECUTE FUNCTION retire_slug();
CREATE TRIGGER retire_changed_slug AFTER UPDATE OF slug ON generic_links FOR EACH ROW
    WHEN (OLD.slug <> NEW.slug) EXECUTE FUNCTION retire_slug();

-- What visitors did in the present window of each limit. A subject is a keyed hash of an address.
-- Unlogged: a crash of Postgres forgets the counts, no more.
CREATE UNLOGGED TABLE visitor_counts (
    policy  text COLLATE "C" NOT NULL,
    subject uuid NOT NULL,
    started timestamptz NOT NULL,
    ends    timestamptz NOT NULL,
    used    integer NOT NULL,
    PRIMARY KEY (policy, subject)
) WITH (fillfactor = 70);
CREATE INDEX visitor_counts_oldest ON visitor_counts (ends);

-- +goose Down
DROP TABLE visitor_counts;
DROP TRIGGER retire_changed_slug ON generic_links;
DROP TRIGGER retire_slug ON generic_links;
DROP FUNCTION retire_slug;
DROP TABLE retired_slugs, verifications;
ALTER TABLE submissions DROP COLUMN verification_required, DROP COLUMN verified_at, DROP COLUMN utm, DROP COLUMN referrer,
    DROP COLUMN consent_text, DROP COLUMN privacy_url, DROP COLUMN consented_at;
ALTER TABLE generic_links DROP COLUMN button_text, DROP COLUMN consent_text, DROP COLUMN privacy_url, DROP COLUMN redirect_url;
ALTER TABLE accounts DROP COLUMN brand_color, DROP COLUMN notify, DROP COLUMN notify_email;
