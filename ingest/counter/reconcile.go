package counter

import (
	"context"
	"errors"
	"fmt"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"lodestone/pkg/store"
)

// reconcileEvery is the time between two looks for rows that no commit announces.
const reconcileEvery = time.Hour

// otherEnds reads the end of the rows of each partition of deleted topics of the name.
const otherEnds = `
SELECT kafka_topic_id, kafka_partition, max(kafka_offset) + 1
FROM lodestone.%s
WHERE kafka_topic_id != {present:UUID}
GROUP BY kafka_topic_id, kafka_partition`

// linksOfSpan reads the links that have rows in a span.
const linksOfSpan = `
SELECT DISTINCT account_id, %s
FROM lodestone.%s
WHERE `

// reconcile sets the counters of links with rows that no commit announces: rows of topics that were
// deleted and recreated under their name before everything in them was counted. A consumer that has
// not noticed the new topic may still insert some, which the next call finds.
func (c *Counter) reconcile(ctx context.Context, conn driver.Conn, k kind, present uuid.UUID) error {
	ends, err := readOtherEnds(ctx, conn, k, present)
	if err != nil {
		return err
	}
	q := store.New(c.pool.Unscoped())
	for _, s := range ends {
		counted, err := progress(ctx, q, s.topicID)
		if err != nil {
			return err
		}
		if s.from = counted[s.partition].from; s.from >= s.to {
			continue
		}
		links, err := readLinks(ctx, conn, k, s)
		if err != nil {
			return err
		}
		if err := setLinks(ctx, c.pool, c.store.Number(), conn, k, links); err != nil {
			return err
		}
		c.links.Add(float64(len(links)))
		if err := (spans{s}).setProgress(ctx, q, time.Time{}); err != nil {
			return err
		}
	}
	return nil
}

func readOtherEnds(ctx context.Context, conn driver.Conn, k kind, present uuid.UUID) (ends []span, err error) {
	parameters := native.Parameters{"present": present.String()}
	rows, err := conn.Query(native.Context(ctx, native.WithParameters(parameters)), fmt.Sprintf(otherEnds, k.table))
	if err != nil {
		return nil, fmt.Errorf("find rows of topics that are gone: %w", err)
	}
	for rows.Next() {
		var s span
		if err = rows.Scan(&s.topicID, &s.partition, &s.to); err != nil {
			break
		}
		ends = append(ends, s)
	}
	if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return nil, fmt.Errorf("find rows of topics that are gone: %w", err)
	}
	return ends, nil
}

func readLinks(ctx context.Context, conn driver.Conn, k kind, s span) (links []link, err error) {
	where, p := (spans{s}).where()
	rows, err := conn.Query(native.Context(ctx, native.WithParameters(p)), fmt.Sprintf(linksOfSpan, k.link, k.table)+where)
	if err != nil {
		return nil, fmt.Errorf("find links with rows of topics that are gone: %w", err)
	}
	for rows.Next() {
		var l link
		if err = rows.Scan(&l.account, &l.id); err != nil {
			break
		}
		links = append(links, l)
	}
	if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return nil, fmt.Errorf("find links with rows of topics that are gone: %w", err)
	}
	return links, nil
}
