-- Recipients of generic links: a list that stays, who was sent what, and who wants no more mail.

-- +goose Up

-- Someone whom an owner invited to a document, with an access link of the same id.
CREATE TABLE recipients (
    id                 uuid PRIMARY KEY,
    account_id         uuid NOT NULL,
    generic_link_id    uuid NOT NULL,
    person_id          uuid NOT NULL,                        -- as person_id() made it of the address
    name               text,                                 -- as the owner's list has it
    added_at           timestamptz(3) NOT NULL DEFAULT now(),
    -- A mail is in the queue from queued_at on, and was handed to the SMTP server at sent_at, which is set before: no
    -- mail is handed over twice, whatever becomes of the process.
    queued_at          timestamptz(3),
    sent_at            timestamptz(3),
    reminder_queued_at timestamptz(3),
    reminded_at        timestamptz(3),
    bounced_at         timestamptz(3),                       -- when the SMTP server refused a mail for good
    failure            text,                                 -- why the last mail was not delivered
    CONSTRAINT recipients_person UNIQUE (generic_link_id, person_id),
    FOREIGN KEY (account_id, id) REFERENCES access_links (account_id, id) ON DELETE CASCADE,
    FOREIGN KEY (account_id, generic_link_id) REFERENCES generic_links (account_id, id) ON DELETE CASCADE
) WITH (fillfactor = 80);
CREATE INDEX recipients_newest ON recipients (account_id, generic_link_id, id DESC);

-- People who want no more invitations of an account. The address is not kept, so an erasure leaves it.
CREATE TABLE unsubscribes (
    account_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
    person_id  uuid NOT NULL, -- as person_id() made it
    at         timestamptz(3) NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, person_id)
);

-- When the recipients of a link are reminded, and in what words.
CREATE TABLE reminder_rules (
    generic_link_id uuid PRIMARY KEY,
    account_id      uuid NOT NULL,
    after_days      integer NOT NULL CHECK (after_days BETWEEN 1 AND 90),
    before_page     integer CHECK (before_page >= 2), -- null: only who did not open the document
    subject         text NOT NULL,
    body            text NOT NULL,
    FOREIGN KEY (account_id, generic_link_id) REFERENCES generic_links (account_id, id) ON DELETE CASCADE
);

-- How far each recipient is.
CREATE VIEW recipient_states WITH (security_invoker = true) AS
SELECT r.id, r.account_id, r.generic_link_id, c.first_viewed_at AS opened_at, read.furthest_page, read.last_active_at, u.at AS unsubscribed_at,
    CASE
        WHEN read.finished THEN 'finished'
        WHEN c.first_viewed_at IS NOT NULL THEN 'opened'
        WHEN u.at IS NOT NULL THEN 'unsubscribed'
        WHEN r.bounced_at IS NOT NULL THEN 'bounced'
        WHEN r.sent_at IS NOT NULL THEN 'sent'
        WHEN r.queued_at IS NOT NULL THEN 'queued'
        ELSE 'added'
    END AS state
FROM recipients r
LEFT JOIN access_link_counts c ON c.id = r.id
LEFT JOIN unsubscribes u ON u.account_id = r.account_id AND u.person_id = r.person_id
LEFT JOIN LATERAL (
    SELECT max(s.pages[cardinality(s.pages)]) AS furthest_page, max(s.last_active_at) AS last_active_at,
        bool_or(f.page_count = ANY (s.pages)) AS finished
    FROM sessions s
    JOIN access_links a ON a.account_id = s.account_id AND a.id = s.access_link_id
    JOIN lead_magnet_files f ON f.account_id = a.account_id AND f.lead_magnet_id = a.lead_magnet_id AND f.version = s.magnet_version
    WHERE s.account_id = r.account_id AND s.access_link_id = r.id AND NOT s.bot AND s.pages <> '{}'
) AS read ON true;
