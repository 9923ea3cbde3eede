-- Messages to webhooks, and what endpoints answered, hold addresses and links that open documents. They are encrypted (package crud/webhook).

-- +goose Up
-- SQL has no keys: crud seals the messages that exist when it starts, and the answers in their attempts.
ALTER TABLE webhook_deliveries RENAME COLUMN body TO body_clear;
ALTER TABLE webhook_deliveries
    ADD COLUMN body_sealed bytea, -- null, like body_clear: what it is about was deleted
    DROP CONSTRAINT webhook_deliveries_body,
    ADD CONSTRAINT webhook_deliveries_body CHECK (num_nonnulls(body_clear, body_sealed) = 1
        OR num_nonnulls(body_clear, body_sealed) = 0 AND state <> 'pending');
CREATE INDEX webhook_deliveries_clear ON webhook_deliveries (id) WHERE body_clear IS NOT NULL;
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION erase_deliveries() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    EXECUTE format('
        UPDATE webhook_deliveries d SET
            body_clear = NULL, body_sealed = NULL,
            state = CASE d.state WHEN ''pending'' THEN ''failed'' ELSE d.state END,
            reason = CASE d.state WHEN ''pending'' THEN ''The link or submission that it is about was deleted.'' ELSE d.reason END,
            settled_at = CASE d.state WHEN ''pending'' THEN clock_timestamp() ELSE d.settled_at END,
            next_attempt_at = NULL, claim = NULL, claimed_until = NULL,
            attempts = (SELECT coalesce(jsonb_agg(a.one || ''{"response": null, "sealed_response": null}'' ORDER BY a.number), ''[]'')
                FROM jsonb_array_elements(d.attempts) WITH ORDINALITY AS a (one, number))
        FROM deleted WHERE d.account_id = deleted.account_id AND d.%I = deleted.id AND num_nonnulls(d.body_clear, d.body_sealed) = 1', TG_ARGV[0]);
    RETURN NULL;
END
$$;
-- +goose StatementEnd

-- +goose Down
-- Sealed messages cannot be opened here.
DELETE FROM webhook_deliveries WHERE body_sealed IS NOT NULL;
ALTER TABLE webhook_deliveries DROP CONSTRAINT webhook_deliveries_body, DROP COLUMN body_sealed;
ALTER TABLE webhook_deliveries RENAME COLUMN body_clear TO body;
ALTER TABLE webhook_deliveries ADD CONSTRAINT webhook_deliveries_body CHECK (body IS NOT NULL OR state <> 'pending');
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION erase_deliveries() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
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
DROP INDEX IF EXISTS webhook_deliveries_clear;
