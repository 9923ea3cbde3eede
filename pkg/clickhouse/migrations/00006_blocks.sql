-- +goose Up

-- A page of what is rare reads single granules here and there, of 1,024 rows each, and a block is decompressed whole: with
-- ClickHouse's usual 64 KiB four to sixty-four granules of a column for one that is wanted. With blocks of 8 KiB such a page
-- takes two thirds to four fifths of the time, and an event one and a half bytes more (measured in docs/storage.md). New parts have them, others
-- when they are merged: months that are over are not any more, but on demand (docs/operations.md).
ALTER TABLE lodestone.events MODIFY SETTING min_compress_block_size = 8192;

-- +goose Down
ALTER TABLE lodestone.events RESET SETTING min_compress_block_size;
