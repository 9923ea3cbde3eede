-- A message to a webhook holds an address and often a personal link. It keeps them no longer than the access link and the submission
-- that it is about.

-- +goose Up
ALTER TABLE webhook_deliveries ADD COLUMN access_link_id uuid; -- what it is about; null: nothing of the kind
ALTER TABLE webhook_deliveries ADD COLUMN submission_id uuid;  -- likewise
ALTER TABLE webhook_deliveries ALTER COLUMN body DROP NOT NULL; -- null: what it is about was deleted
UPDATE webhook_deliveries SET
    access_link_id = (body::jsonb #>> '{data,access_link_id}')::uuid,
    submission_id = (body::jsonb #>> '{data,submission_id}')::uuid
WHERE kind <> 'webhook.test';
CREATE INDEX webhook_deliveries_access_link ON webhook_deliveries (access_link_id) WHERE access_link_id IS NOT NULL;
CREATE INDEX webhook_deliveries_submission ON webhook_deliveries (submission_id) WHERE submission_id IS NOT NULL;

-- erase_deliveries takes the bodies, and what endpoints answered, from the deliveries about the rows that were deleted. One that waits or
-- is being sent is given up: it ends without a claim, so that whoever sends it cannot add an answer. The argument is the column that names the rows.
-- The statement is planned each time: one deletion is of one row, the next of 100,000.
-- +goose StatementBegin
CREATE FUNCTION erase_deliveries() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    EXECUTE format('
        UPDATE webhook_deliveries d SET
            body = NULL,
            state = CASE d.state WHEN ''pending'' THEN ''failed'' ELSE d.state END,
            reason = CASE d.state WHEN ''pending'' THEN ''The link or submission that it is about was deleted.'' ELSE d.reason END,
            settled_at = CASE d.state WHEN ''pending'' THEN clock_timestamp() ELSE d.settled_at END,
            next_attempt_at = NULL, claim = NULL, claimed_until = NULL,
            attempts = (SELECT coalesce(jsonb_agg(a.one || ''{"response": null}'' ORDER BY a.number), ''[]'')
                FROM jsonb_array_elements(d.attempts) WITH ORDINALITY AS a (one, number))
        FROM deleted WHERE d.account_id = deleted.account_id AND d.%I = deleted.id AND d.body IS NOT NULL', TG_ARGV[0]);
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER erase_deliveries AFTER DELETE ON access_links
    REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION erase_deliveries('access_link_id');
CREATE TRIGGER erase_deliveries AFTER DELETE ON submissions
    REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION erase_deliveries('submission_id');

-- Those whose access link or submission was deleted before.
UPDATE webhook_deliveries d SET
    body = NULL,
    state = CASE d.state WHEN 'pending' THEN 'failed' ELSE d.state END,
    reason = CASE d.state WHEN 'pending' THEN 'The link or submission that it is about was deleted.' ELSE d.reason END,
    settled_at = CASE d.state WHEN 'pending' THEN clock_timestamp() ELSE d.settled_at END,
    next_attempt_at = NULL, claim = NULL, claimed_until = NULL,
    attempts = (SELECT coalesce(jsonb_agg(a.one || '{"response": null}' ORDER BY a.number), '[]')
        FROM jsonb_array_elements(d.attempts) WITH ORDINALITY AS a (one, number))
WHERE (d.access_link_id IS NOT NULL AND NOT EXISTS (SELECT FROM access_links l WHERE l.account_id = d.account_id AND l.id = d.access_link_id))
    OR (d.submission_id IS NOT NULL AND NOT EXISTS (SELECT FROM submissions s WHERE s.account_id = d.account_id AND s.id = d.submission_id));
ALTER TABLE webhook_deliveries ADD CONSTRAINT webhook_deliveries_body CHECK (body IS NOT NULL OR state <> 'pending');

-- +goose Down
DROP TRIGGER erase_deliveries ON access_links;
DROP TRIGGER erase_deliveries ON submissions;
DROP FUNCTION erase_deliveries;
DELETE FROM webhook_deliveries WHERE body IS NULL;
ALTER TABLE webhook_deliveries DROP CONSTRAINT webhook_deliveries_body, ALTER COLUMN body SET NOT NULL,
    DROP COLUMN access_link_id, DROP COLUMN submission_id;
