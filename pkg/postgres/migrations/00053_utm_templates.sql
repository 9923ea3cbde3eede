-- Campaign parameters that an account saved, to put them into the addresses of its links.

-- +goose Up
CREATE TABLE utm_templates (
    id         uuid PRIMARY KEY,
    account_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
    name       text NOT NULL,
    source     text,
    medium     text,
    campaign   text,
    content    text,
    term       text,
    revision   bigint NOT NULL DEFAULT 1,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    updated_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX utm_templates_newest ON utm_templates (account_id, created_at DESC, id DESC);

ALTER TABLE utm_templates ENABLE ROW LEVEL SECURITY;
CREATE POLICY account ON utm_templates TO lodestone_account
    USING (account_id = current_setting('lodestone.account_id')::uuid)
    WITH CHECK (account_id = current_setting('lodestone.account_id')::uuid);
GRANT SELECT, INSERT, UPDATE, DELETE ON utm_templates TO lodestone_account;

-- +goose Down
DROP TABLE utm_templates;
