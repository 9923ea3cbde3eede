package counter

import (
	"context"
	"errors"
	"fmt"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"lodestone/pkg/clickhouse"
)

// oldEvery is the time between two checks for uncounted rows of deleted topics.
const oldEvery = time.Hour

// oldTopics holds the time of the last such check, and the topic that had the name then.
type oldTopics struct {
	at      time.Time
	present uuid.UUID
}

// oldEnds reads, for each partition of deleted topics of the name, the end of its rows. A consumer that has not noticed
// the new topic may still insert rows of an old one.
const oldEnds = `
SELECT kafka_topic_id, kafka_partition, max(kafka_offset) + 1,
    arrayExists(id -> position(id, toString(kafka_topic_id)) > 0, (SELECT groupArray(query_id) FROM system.processes WHERE query_kind = 'Insert'))
FROM lodestone.%s
WHERE kafka_topic_id != {present:UUID}
GROUP BY kafka_topic_id, kafka_partition`

// catchUpOld counts rows that no commit announces: rows of topics that were deleted and recreated under their name
// before everything in them was counted, or whose progress was lost with a backup of Postgres. It runs at the start,
// when the topic has changed, and every oldEvery.
func (c *Counter) catchUpOld(ctx context.Context, conn driver.Conn, k kind, present uuid.UUID) error {
	if last := c.old[k.topic]; last.present == present && time.Since(last.at) < oldEvery {
		return nil
	}
	anyRunning := false
	err := clickhouse.EachShard(conn, func(shard driver.Conn) error { // each has inserts of its own
		ends, running, err := readOldEnds(ctx, shard, k, present)
		if err != nil {
			return err
		}
		anyRunning = anyRunning || running
		for topicID, stored := range ends {
			if _, err := c.catchUpKind(ctx, conn, k, false, func() ([]span, int64, error) {
				return c.uncounted(ctx, topicID, stored)
			}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !anyRunning {
		c.old[k.topic] = oldTopics{at: time.Now(), present: present}
	}
	return nil
}

// readOldEnds returns the ends of partitions by topic id, without topics that an insert still writes to, and whether
// there are such topics.
func readOldEnds(ctx context.Context, conn driver.Conn, k kind, present uuid.UUID) (ends map[uuid.UUID]map[int32]int64, running bool, err error) {
	rows, err := conn.Query(native.Context(ctx, native.WithParameters(native.Parameters{"present": present.String()})), fmt.Sprintf(oldEnds, k.table))
	if err != nil {
		return nil, false, fmt.Errorf("find rows of topics that are gone: %w", err)
	}
	ends = map[uuid.UUID]map[int32]int64{}
	for rows.Next() {
		var topicID uuid.UUID
		var partition int32
		var end int64
		var inserting uint8
		if err = rows.Scan(&topicID, &partition, &end, &inserting); err != nil {
			break
		}
		if inserting > 0 {
			running = true
			continue
		}
		if ends[topicID] == nil {
			ends[topicID] = map[int32]int64{}
		}
		ends[topicID][partition] = end
	}
	if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return nil, false, fmt.Errorf("find rows of topics that are gone: %w", err)
	}
	return ends, running, nil
}
