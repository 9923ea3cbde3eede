UNION ALL
                        -- Access links that were given in the time, opened or not.
                        SELECT
                            id, lead_magnet_id, toUInt64(0), toUInt64(0), CAST([], 'Array(UInt64)'), toUInt64(0), toUInt64(0), toUInt64(0), toUInt64(0),
                            toInt64(0), toInt64(0), toUInt64(0), toUnixTimestamp64Milli(created_at)
                        FROM lodestone.access_links FINAL
                        WHERE account_id = {account:UUID}
                            AND created_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND created_at < fromUnixTimestamp64Milli({given_to:Int64}, 'UTC')
                            /* conditions */
