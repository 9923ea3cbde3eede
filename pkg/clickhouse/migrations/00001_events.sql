-- +goose Up

-- One row an event. The offsets in each row are the truth about what is stored; the window of
-- deduplication tokens only settles races between two writers of the same block.
-- A zero UUID stands for none, a zero ip_hash for withheld.
CREATE TABLE IF NOT EXISTS lodestone.events
(
    account_id      UUID,
    lead_magnet_id  UUID,
    generic_link_id UUID,
    access_link_id  UUID,
    session_id      UUID,
    event_id        UUID,
    event_type      Enum8('page_viewed' = 1, 'download_started' = 2, 'download_completed' = 3),
    event_data      String CODEC(ZSTD(1)),
    magnet_version  UInt32,
    page            UInt32,
    duration_ms     UInt32,
    ip_hash         FixedString(16),
    user_agent      LowCardinality(String),
    bot             LowCardinality(String),
    created_at      DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    received_at     DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    kafka_topic_id  UUID,
    kafka_partition Int32,
    kafka_offset    Int64 CODEC(Delta, ZSTD(1)),

    -- The fence against a writer that was stopped for long between being allowed to insert and
    -- inserting: the server compares its own clock with the end of the time that the writer had.
    -- Nothing of it is stored but zeros. Inserts that do not name it are not bounded.
    insert_before   DateTime64(3, 'UTC') EPHEMERAL toDateTime64('2200-01-01', 3, 'UTC'),
    in_time         UInt8 MATERIALIZED throwIf(now64(3) >= insert_before, 'the insert came too late'),

    INDEX access_link access_link_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX lead_magnet lead_magnet_id TYPE bloom_filter(0.01) GRANULARITY 1,
    -- Events arrive in about the order they happened in, so a granule spans little of this.
    INDEX received received_at TYPE minmax GRANULARITY 1,

    -- What is stored of a partition of the log. In the same part as the rows, so never behind them.
    PROJECTION by_offset
    (
        SELECT kafka_topic_id, kafka_partition, kafka_offset, account_id, access_link_id
        ORDER BY kafka_topic_id, kafka_partition, kafka_offset
    ),
    -- One row a session and kind of event, for the views of an access link. In the same part as
    -- well: a replay can neither miss nor double it.
    PROJECTION sessions
    (
        SELECT
            account_id, access_link_id, lead_magnet_id,
            if(session_id = toUUID('00000000-0000-0000-0000-000000000000'), event_id, session_id),
            event_type, bot = '',
            min(created_at), max(created_at), count()
        GROUP BY
            account_id, access_link_id, lead_magnet_id,
            if(session_id = toUUID('00000000-0000-0000-0000-000000000000'), event_id, session_id),
            event_type, bot = ''
    )
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(created_at)
-- An event's place in the log ends the order: it makes the order of a list total, and with the whole
-- of it in the key a list stops reading at its last row. The index itself needs only the first two.
PRIMARY KEY (account_id, created_at)
ORDER BY (account_id, created_at, kafka_topic_id, kafka_partition, kafka_offset)
SETTINGS
    index_granularity = 1024,
    non_replicated_deduplication_window = 10000,
    fsync_after_insert = 1,
    fsync_part_directory = 1;

-- One row a view of a generic link's landing page.
CREATE TABLE IF NOT EXISTS lodestone.link_views
(
    account_id      UUID,
    lead_magnet_id  UUID,
    generic_link_id UUID,
    event_id        UUID,
    referrer        String CODEC(ZSTD(1)),
    url             String CODEC(ZSTD(1)),
    ip_hash         FixedString(16),
    user_agent      LowCardinality(String),
    bot             LowCardinality(String),
    created_at      DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    received_at     DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    kafka_topic_id  UUID,
    kafka_partition Int32,
    kafka_offset    Int64 CODEC(Delta, ZSTD(1)),
    insert_before   DateTime64(3, 'UTC') EPHEMERAL toDateTime64('2200-01-01', 3, 'UTC'),
    in_time         UInt8 MATERIALIZED throwIf(now64(3) >= insert_before, 'the insert came too late'),

    PROJECTION by_offset
    (
        SELECT kafka_topic_id, kafka_partition, kafka_offset, account_id, generic_link_id
        ORDER BY kafka_topic_id, kafka_partition, kafka_offset
    )
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(created_at)
ORDER BY (account_id, generic_link_id, created_at, event_id)
SETTINGS
    index_granularity = 1024,
    non_replicated_deduplication_window = 10000,
    fsync_after_insert = 1,
    fsync_part_directory = 1;

-- The read side's contract. The names and the meaning of these columns stay.
CREATE VIEW IF NOT EXISTS analytics.events
    DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
    account_id,
    lead_magnet_id,
    if(generic_link_id = toUUID('00000000-0000-0000-0000-000000000000'), NULL, generic_link_id) AS generic_link_id,
    access_link_id,
    if(session_id = toUUID('00000000-0000-0000-0000-000000000000'), NULL, session_id) AS session_id,
    event_id,
    event_type,
    event_data,
    magnet_version,
    page,
    duration_ms,
    if(ip_hash = toFixedString('', 16), NULL, lower(hex(ip_hash))) AS ip_hash,
    user_agent,
    bot,
    created_at,
    received_at,
    kafka_topic_id,
    kafka_partition,
    kafka_offset
FROM lodestone.events;

-- +goose Down
DROP VIEW analytics.events;
DROP TABLE lodestone.link_views;
DROP TABLE lodestone.events;
