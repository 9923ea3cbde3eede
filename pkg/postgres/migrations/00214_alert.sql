-- Alerts: what an account wants to be told of, and what it was told.

-- +goose Up

ALTER TABLE accounts
    ADD COLUMN alert_notices boolean NOT NULL DEFAULT true, -- whether alerts are mailed
    ADD COLUMN quiet_from  text CHECK (quiet_from ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$'), -- time of the day in the account's time zone
    ADD COLUMN quiet_until text CHECK (quiet_until ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$');

CREATE TABLE alert_rules (
    id              uuid PRIMARY KEY,
    account_id      uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
    kind            text NOT NULL CHECK (kind IN ('range', 'above', 'below', 'silent')),
    metric          text NOT NULL CHECK (metric IN ('visitors', 'submissions', 'people')),
    -- At most one of them. None: all together; of silent, each generic link.
    lead_magnet_id  uuid,
    generic_link_id uuid,
    utm_campaign    text,
    threshold       bigint,                                  -- of above and below
    created_at      timestamptz(3) NOT NULL DEFAULT now(),
    checked_at      timestamptz(3) NOT NULL DEFAULT 'epoch',
    UNIQUE (account_id, id),
    FOREIGN KEY (account_id, lead_magnet_id) REFERENCES lead_magnets (account_id, id) ON DELETE CASCADE,
    FOREIGN KEY (account_id, generic_link_id) REFERENCES generic_links (account_id, id) ON DELETE CASCADE,
    CHECK (num_nonnulls(lead_magnet_id, generic_link_id, utm_campaign) <= 1),
    CHECK ((threshold IS NOT NULL) = (kind IN ('above', 'below')))
);
CREATE INDEX alert_rules_checked ON alert_rules (checked_at);
CREATE INDEX alert_rules_magnet ON alert_rules (account_id, lead_magnet_id) WHERE lead_magnet_id IS NOT NULL;
CREATE INDEX alert_rules_link ON alert_rules (account_id, generic_link_id) WHERE generic_link_id IS NOT NULL;

CREATE TABLE alerts (
    id              uuid PRIMARY KEY,
    account_id      uuid NOT NULL,
    rule_id         uuid NOT NULL,
    generic_link_id uuid,                                    -- the page that is silent; null: the number of the rule
    direction       text NOT NULL CHECK (direction IN ('above', 'below', 'silent')),
    value           bigint NOT NULL,                         -- when it began
    usual_low       bigint,                                  -- null: a threshold was passed
    usual_high      bigint,
    since           timestamptz(3) NOT NULL,                 -- the last visit, or the day's beginning
    created_at      timestamptz(3) NOT NULL DEFAULT now(),
    ended_at        timestamptz(3),                          -- null: it goes on
    sent_at         timestamptz(3),                          -- when its notice was queued; null: it waits for the end of quiet hours
    FOREIGN KEY (account_id, rule_id) REFERENCES alert_rules (account_id, id) ON DELETE CASCADE,
    FOREIGN KEY (account_id, generic_link_id) REFERENCES generic_links (account_id, id) ON DELETE CASCADE
);
-- No one is told twice of one thing.
CREATE UNIQUE INDEX alerts_open ON alerts (rule_id, direction, (coalesce(generic_link_id, rule_id))) WHERE ended_at IS NULL;
CREATE INDEX alerts_newest ON alerts (account_id, created_at DESC, id DESC);
CREATE INDEX alerts_rule ON alerts (account_id, rule_id);
CREATE INDEX alerts_link ON alerts (account_id, generic_link_id) WHERE generic_link_id IS NOT NULL;
CREATE INDEX alerts_waiting ON alerts (account_id) WHERE sent_at IS NULL;
