-- Topics whose number of partitions doubles while they are written and read.

-- +goose Up
-- topic_partitions.partitions is the number that keys are distributed over. Kafka may have more partitions, which are not used.
ALTER TABLE topic_partitions ADD COLUMN base integer;             -- the number when the topic was new
UPDATE topic_partitions SET base = partitions;
ALTER TABLE topic_partitions ALTER COLUMN base SET NOT NULL;

-- Where each partition stopped storing the keys that moved to its child. Everything of the partition below was stored when the row was
-- inserted. A row is never changed.
CREATE TABLE partition_cuts (
    topic_id   uuid    NOT NULL,
    partition  integer NOT NULL,                                  -- the parent
    partitions integer NOT NULL,                                  -- the number that keys are distributed over from here on
    cut        bigint  NOT NULL,                                  -- offset of the record that says so
    PRIMARY KEY (topic_id, partition, partitions)
);

-- +goose Down
DROP TABLE partition_cuts;
ALTER TABLE topic_partitions DROP COLUMN base;
