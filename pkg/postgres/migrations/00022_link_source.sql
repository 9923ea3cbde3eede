-- How the URL of an access link was handed out. A form that asks for no verification shows the submitter a
-- link in the browser, and sends another one to the address: only the latter is certain to be the
-- recipient's.

-- +goose Up
ALTER TABLE access_links
    ADD COLUMN source   text NOT NULL DEFAULT 'api' CHECK (source IN ('api', 'mail', 'form')),
    ADD COLUMN additional boolean NOT NULL DEFAULT false, -- a form gave it while the mailbox has one as well
    ADD COLUMN verified boolean NOT NULL DEFAULT false; -- its recipient verified the address of the submission

-- Until now the browser and the mail had the same link. Those made when an address was verified were given to
-- whoever read the mailbox; the others may be in anyone's hands.
UPDATE access_links a SET source = 'mail', verified = true
FROM submissions s
WHERE s.id = a.submission_id AND s.verified_at IS NOT NULL AND a.created_at >= s.verified_at - interval '1 minute';
UPDATE access_links SET source = 'form' WHERE submission_id IS NOT NULL AND source = 'api';

-- A verified submission counts what was read by links of the mailbox only.
UPDATE access_links a SET submission_id = NULL
FROM submissions s
WHERE s.id = a.submission_id AND s.verified AND a.source = 'form';
UPDATE submissions s
SET view_count = n.views, viewed = n.views > 0, first_viewed_at = n.first, last_viewed_at = n.last
FROM (
    SELECT v.id, coalesce(sum(a.view_count), 0)::bigint AS views, min(a.first_viewed_at) AS first, max(a.last_viewed_at) AS last
    FROM submissions v LEFT JOIN access_links a ON a.submission_id = v.id
    WHERE v.verified GROUP BY v.id) AS n
WHERE s.id = n.id AND (s.view_count, s.first_viewed_at, s.last_viewed_at) IS DISTINCT FROM (n.views, n.first, n.last);

CREATE UNIQUE INDEX access_links_mailbox ON access_links (submission_id) WHERE source = 'mail';
CREATE INDEX access_links_verified ON access_links (account_id, email_key) WHERE verified;

-- +goose Down
DROP INDEX access_links_verified;
DROP INDEX access_links_mailbox;
ALTER TABLE access_links DROP COLUMN verified, DROP COLUMN additional, DROP COLUMN source;
