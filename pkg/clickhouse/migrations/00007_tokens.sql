-- +goose Up

-- How many insert tokens a table remembers, over all partitions of the log. A token has to outlive the time in which an
-- insert of an earlier owner can still arrive, which is below 60 seconds: 300 partitions make 600 blocks a second.
ALTER TABLE lodestone.events MODIFY SETTING non_replicated_deduplication_window = 100000;
ALTER TABLE lodestone.link_views MODIFY SETTING non_replicated_deduplication_window = 100000;

-- +goose Down
ALTER TABLE lodestone.link_views MODIFY SETTING non_replicated_deduplication_window = 10000;
ALTER TABLE lodestone.events MODIFY SETTING non_replicated_deduplication_window = 10000;
