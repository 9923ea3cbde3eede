-- Every access link is copied to ClickHouse again, with how its URL was handed out.

-- +goose Up
INSERT INTO entity_changes (entity, id) SELECT 'access_links', id FROM access_links;

-- +goose Down
SELECT 1; -- copies that have it do no harm
