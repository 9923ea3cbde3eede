-- URLs of webhooks are secrets as often as those of chat channels: many have a token in them.

-- +goose Up
ALTER TABLE webhook_endpoints ADD COLUMN url_sealed bytea; -- null: url is the whole, and is sealed next; else url is a hint of it

-- +goose Down
ALTER TABLE webhook_endpoints DROP COLUMN url_sealed;
