    -- How interested a person seems, from 0 to 100: the sum of five parts, each of which has one reason (docs/api.md#people).
    -- as_of is in milliseconds since 1970.
    toUInt8(if(finished, 40, 0)) AS score_finished, -- read a document to its last page
    toUInt8(least(25, intDiv(attention_ms, 24000))) AS score_attention, -- a point for each 24 s of reading
    toUInt8(5 * least(3, greatest(sessions, 1) - 1)) AS score_returns, -- opened it again
    toUInt8(if(downloads > 0, 10, 0)) AS score_downloads,
    toUInt8(multiIf(last_seen_at > {as_of:Int64} - 7 * 86400000, 10, last_seen_at > {as_of:Int64} - 30 * 86400000, 5, 0)) AS score_recency,
    score_finished + score_attention + score_returns + score_downloads + score_recency AS score
