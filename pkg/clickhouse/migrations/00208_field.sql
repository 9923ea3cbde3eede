-- What visitors answer in the fields of a form, as JSON; {} unless addresses are copied.

-- +goose Up
ALTER TABLE lodestone.submissions ADD COLUMN IF NOT EXISTS answers String DEFAULT '{}' AFTER consented_at;

CREATE OR REPLACE VIEW analytics.submissions
    DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS WITH (SELECT groupArrayArray(accounts) FROM lodestone.sql_accounts WHERE view IN ('submissions', '')) AS accounts
SELECT
    account_id,
    lead_magnet_id,
    generic_link_id,
    id AS submission_id,
    multiIf(
        (account_id, id) IN (
            SELECT account_id, assumeNotNull(submission_id)
            FROM lodestone.access_links FINAL
            PREWHERE empty(accounts) OR has(accounts, account_id)
            WHERE submission_id IS NOT NULL AND (account_id, id) IN (
                SELECT account_id, access_link_id
                FROM lodestone.events
                PREWHERE empty(accounts) OR has(accounts, account_id)
                WHERE event_type = 'page_viewed' AND bot = ''
                GROUP BY account_id, access_link_id)),
        'viewed',
        confirmed_at IS NULL, 'awaiting_verification',
        'ready') AS state,
    email,
    if(email IS NULL, NULL, email_domain) AS email_domain,
    if(email IS NULL, NULL, person_id) AS person_id,
    referrer_host,
    utm_source,
    utm_medium,
    utm_campaign,
    utm_content,
    utm_term,
    submitted_at,
    consented_at,
    verified_at,
    confirmed_at,
    JSONExtract(answers, 'Map(String, String)') AS answers
FROM lodestone.submissions FINAL
PREWHERE empty(accounts) OR has(accounts, account_id);
