-- Mails in the queue are encrypted (package crud/mail): they hold addresses, links that open documents, and codes.

-- +goose Up
-- SQL has no keys: crud seals the mails that wait when it starts. Nobody needs those that were sent or given up.
DELETE FROM river_job WHERE kind = 'mail' AND finalized_at IS NOT NULL;

-- +goose Down
-- Sealed mails cannot be opened here.
DELETE FROM river_job WHERE kind = 'sealed_mail';
