package counter

import (
	"context"
	"fmt"
	"slices"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/ingest/retention"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
)

// chunkLinks is how many links are counted in one query.
const chunkLinks = 2_000

// kind is what is counted from one topic.
type kind struct {
	topic   string
	touched string // ClickHouse: the account and id of links with rows in a span, by the projection by_offset
	views   string // ClickHouse: id, views, first and last of links
	set     string // Postgres: sets the counters; $1 ids, $2 views, $3 first, $4 last
	sums    string // Postgres: sets counters that are sums of those; $1 ids
	// also is done for the links besides, or nil.
	also func(ctx context.Context, conn driver.Conn, tx pgx.Tx, links []link) error
}

func kinds() []kind {
	return []kind{
		{event.Topic, touchedLinks, accessLinkViews, setAccessLinks, setSubmissions, followSessions},
		{event.LinkViewTopic, touchedGenericLinks, genericLinkViews, setGenericLinks, "", nil},
	}
}

const touchedLinks = `
SELECT DISTINCT account_id, access_link_id
FROM lodestone.events
WHERE kafka_topic_id = {topic:UUID} AND kafka_partition = {partition:Int32}
  AND kafka_offset >= {from:Int64} AND kafka_offset < {to:Int64}`

const touchedGenericLinks = `
SELECT DISTINCT account_id, generic_link_id
FROM lodestone.link_views
WHERE kafka_topic_id = {topic:UUID} AND kafka_partition = {partition:Int32}
  AND kafka_offset >= {from:Int64} AND kafka_offset < {to:Int64}`

// genericLinkViews counts the landing page's views by people.
const genericLinkViews = withExpired + `
    SELECT generic_link_id AS link_id, count() AS views, min(created_at) AS since, max(created_at) AS until
    FROM lodestone.link_views
    WHERE account_id IN {accounts:Array(UUID)} AND generic_link_id IN {links:Array(UUID)} AND bot = ''
    GROUP BY link_id
)
GROUP BY link_id`

// accessLinkViews counts the sessions of people that saw at least one page; an event that came without
// a session is its own. It must keep to the words of the projection sessions, which answers it.
const accessLinkViews = withExpired + `
    SELECT access_link_id AS link_id, count() AS views, min(first) AS since, max(last) AS until
    FROM
    (
        SELECT
            access_link_id, lead_magnet_id,
            if(session_id = toUUID('00000000-0000-0000-0000-000000000000'), event_id, session_id) AS session,
            min(created_at) AS first, max(created_at) AS last
        FROM lodestone.events
        WHERE account_id IN {accounts:Array(UUID)} AND access_link_id IN {links:Array(UUID)}
          AND event_type = 'page_viewed' AND bot = ''
        GROUP BY account_id, access_link_id, lead_magnet_id, session
    )
    GROUP BY link_id
)
GROUP BY link_id`

// withExpired adds, to the views that follow, those of months that are not kept any more.
const withExpired = `
SELECT link_id, sum(views), min(since), max(until)
FROM
(
    SELECT link_id, views, first AS since, last AS until
    FROM lodestone.expired_views
    WHERE account_id IN {accounts:Array(UUID)} AND link_id IN {links:Array(UUID)}
      AND step IN (SELECT step FROM lodestone.retention_steps WHERE phase = 'done')
    UNION ALL`

const setAccessLinks = `
UPDATE access_links l
SET view_count = n.views, viewed = n.views > 0, first_viewed_at = n.first, last_viewed_at = n.last
FROM unnest($1::uuid[], $2::bigint[], $3::timestamptz[], $4::timestamptz[]) AS n (id, views, first, last)
WHERE l.id = n.id
  AND (l.view_count, l.first_viewed_at, l.last_viewed_at) IS DISTINCT FROM (n.views, n.first, n.last)`

const setGenericLinks = `
UPDATE generic_links l
SET view_count = n.views
FROM unnest($1::uuid[], $2::bigint[], $3::timestamptz[], $4::timestamptz[]) AS n (id, views, first, last)
WHERE l.id = n.id AND l.view_count <> n.views`

const setSubmissions = `
UPDATE submissions s
SET view_count = n.views, viewed = n.views > 0, first_viewed_at = n.first, last_viewed_at = n.last
FROM
(
    SELECT submission_id, sum(view_count)::bigint AS views, min(first_viewed_at) AS first, max(last_viewed_at) AS last
    FROM access_links
    WHERE submission_id IN (SELECT submission_id FROM access_links WHERE id = ANY ($1::uuid[]))
    GROUP BY submission_id
) AS n
WHERE s.id = n.submission_id
  AND (s.view_count, s.first_viewed_at, s.last_viewed_at) IS DISTINCT FROM (n.views, n.first, n.last)`

const setProgress = `
INSERT INTO counter_progress (topic_id, partition, next_offset) VALUES ($1, $2, $3)
ON CONFLICT (topic_id, partition) DO UPDATE SET next_offset = excluded.next_offset
WHERE counter_progress.next_offset < excluded.next_offset`

// count sets the counters of the links with events in the span, and then the progress, in one
// transaction. If another process is counting it waits for it: then most of the work is done.
func (c *Counter) count(ctx context.Context, conn driver.Conn, k kind, s span) error {
	links := 0
	err := c.pool.Transaction(ctx, func(tx pgx.Tx) (err error) {
		if links, err = countSpan(ctx, tx, conn, k, s); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, setProgress, s.topicID, s.partition, s.to); err != nil {
			return fmt.Errorf("set the counters' progress: %w", err)
		}
		return nil
	})
	if err == nil {
		c.links.Add(float64(links))
	}
	return err
}

// countSpan sets the counters of the links with events in the span, and returns how many there are.
// It holds the counters' lock until the transaction ends.
func countSpan(ctx context.Context, tx pgx.Tx, conn driver.Conn, k kind, s span) (links int, err error) {
	// The views are read under the lock, so that an older count cannot overwrite a newer one.
	if err := retention.Lock(ctx, tx); err != nil {
		return 0, err
	}
	if err := retention.Finish(ctx, conn); err != nil {
		return 0, err
	}
	touched, err := readTouched(ctx, conn, k, s)
	if err != nil {
		return 0, err
	}
	for chunk := range slices.Chunk(touched, chunkLinks) {
		if err := setCounters(ctx, conn, tx, k, chunk); err != nil {
			return 0, err
		}
		if k.also != nil {
			if err := k.also(ctx, conn, tx, chunk); err != nil {
				return 0, err
			}
		}
	}
	return len(touched), nil
}

type link struct{ account, id uuid.UUID }

func readTouched(ctx context.Context, conn driver.Conn, k kind, s span) ([]link, error) {
	ctx = native.Context(ctx, native.WithParameters(native.Parameters{
		"topic":     s.topicID.String(),
		"partition": fmt.Sprint(s.partition),
		"from":      fmt.Sprint(s.from),
		"to":        fmt.Sprint(s.to),
	}))
	rows, err := conn.Query(ctx, k.touched)
	if err != nil {
		return nil, fmt.Errorf("find links with new events: %w", err)
	}
	defer func() { _ = rows.Close() }() // an error shows in rows.Err
	var links []link
	for rows.Next() {
		var l link
		if err := rows.Scan(&l.account, &l.id); err != nil {
			return nil, fmt.Errorf("find links with new events: %w", err)
		}
		links = append(links, l)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("find links with new events: %w", err)
	}
	return links, nil
}

// setCounters counts the views of the links and writes them down.
func setCounters(ctx context.Context, conn driver.Conn, tx pgx.Tx, k kind, links []link) error {
	ids := make([]uuid.UUID, len(links))
	place := make(map[uuid.UUID]int, len(links))
	accounts := map[uuid.UUID]struct{}{}
	for i, l := range links {
		ids[i], place[l.id] = l.id, i
		accounts[l.account] = struct{}{}
	}
	accountIDs := make([]uuid.UUID, 0, len(accounts))
	for id := range accounts {
		accountIDs = append(accountIDs, id)
	}
	views := make([]int64, len(links)) // links without a view are set to none
	first, last := make([]*time.Time, len(links)), make([]*time.Time, len(links))

	ctxQuery := native.Context(ctx, native.WithParameters(native.Parameters{
		"accounts": clickhouse.UUIDs(accountIDs),
		"links":    clickhouse.UUIDs(ids),
	}))
	rows, err := conn.Query(ctxQuery, k.views)
	if err != nil {
		return fmt.Errorf("count views: %w", err)
	}
	defer func() { _ = rows.Close() }() // an error shows in rows.Err
	for rows.Next() {
		var id uuid.UUID
		var n uint64
		var from, to time.Time
		if err := rows.Scan(&id, &n, &from, &to); err != nil {
			return fmt.Errorf("count views: %w", err)
		}
		if i, ok := place[id]; ok {
			views[i], first[i], last[i] = int64(n), &from, &to
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("count views: %w", err)
	}
	if _, err := tx.Exec(ctx, k.set, ids, views, first, last); err != nil {
		return fmt.Errorf("set counters: %w", err)
	}
	if k.sums == "" {
		return nil
	}
	if _, err := tx.Exec(ctx, k.sums, ids); err != nil {
		return fmt.Errorf("set sums of counters: %w", err)
	}
	return nil
}
