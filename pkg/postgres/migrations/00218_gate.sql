-- Who may read: what a generic link asks of its visitors, beside their address.

-- +goose Up
ALTER TABLE generic_links
    ADD COLUMN allowed_emails text[] NOT NULL DEFAULT '{}', -- addresses and domains, as keys are; none: all are allowed
    ADD COLUMN blocked_emails text[] NOT NULL DEFAULT '{}',
    ADD COLUMN max_people integer,                          -- submissions that the form takes; null: any number
    ADD COLUMN passcode_hash text,                          -- argon2id; null: the form asks for none
    ADD COLUMN agreement_title text,
    ADD COLUMN agreement_text text,                         -- null: there is none to accept
    ADD COLUMN watermark boolean NOT NULL DEFAULT false;    -- whether each page names who reads it

-- A link that lost its generic link keeps the mark.
ALTER TABLE access_links ADD COLUMN watermark boolean NOT NULL DEFAULT false;

-- The texts that visitors accepted, each once.
CREATE TABLE agreements (
    id              uuid PRIMARY KEY,
    account_id      uuid NOT NULL,
    generic_link_id uuid NOT NULL,
    digest          bytea NOT NULL, -- SHA-256 of title and text
    title           text,
    text            text NOT NULL,
    CONSTRAINT agreements_digest UNIQUE (generic_link_id, digest),
    UNIQUE (account_id, id),
    FOREIGN KEY (account_id, generic_link_id) REFERENCES generic_links (account_id, id) ON DELETE CASCADE
);

-- Who accepted which text, and when first.
CREATE TABLE acceptances (
    submission_id uuid NOT NULL,
    agreement_id  uuid NOT NULL,
    account_id    uuid NOT NULL,
    accepted_at   timestamptz(3) NOT NULL,
    PRIMARY KEY (submission_id, agreement_id),
    FOREIGN KEY (account_id, submission_id) REFERENCES submissions (account_id, id) ON DELETE CASCADE,
    FOREIGN KEY (account_id, agreement_id) REFERENCES agreements (account_id, id) ON DELETE CASCADE
);
CREATE INDEX acceptances_agreement ON acceptances (account_id, agreement_id);
