-- Answers that are kept for repeated requests hold addresses and links that open documents. They are encrypted (package idempotency).

-- +goose Up
-- SQL has no keys, and answers are kept for a day: those of before go. Whoever repeats a request of before is told that it took effect.
ALTER TABLE idempotency_keys ADD COLUMN sealed bytea; -- null: the answer is not kept, because it holds a secret
ALTER TABLE idempotency_keys DROP COLUMN body;

-- +goose Down
ALTER TABLE idempotency_keys ADD COLUMN body bytea;
ALTER TABLE idempotency_keys DROP COLUMN sealed;
