package counter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/ingest/retention"
	"lodestone/ingest/view"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
	"lodestone/pkg/store"
)

// chunkLinks is how many links are counted in one query.
const chunkLinks = 2_000

// kind describes what is counted from one topic.
type kind struct {
	topic    string
	touched  string // ClickHouse: the account and id of links with rows in a span, by the projection by_offset
	views    string // ClickHouse: id, views, first and last of links
	table    string // ClickHouse: that of the rows
	sessions bool   // the links have sessions, whose activity is set as well

	set func(context.Context, *store.Queries, counters) error // sets the counters in Postgres
}

// counters are the counters of links, as parallel columns.
type counters store.SetAccessLinkCountersParams

func kinds() []kind {
	return []kind{
		{event.Topic, touchedLinks, accessLinkViews, "events", true, setAccessLinks},
		{event.LinkViewTopic, touchedGenericLinks, genericLinkViews(), "link_views", false, setGenericLinks},
	}
}

// setAccessLinks sets the counters of access links and the sums of their submissions.
func setAccessLinks(ctx context.Context, q *store.Queries, c counters) error {
	if err := q.SetAccessLinkCounters(ctx, store.SetAccessLinkCountersParams(c)); err != nil {
		return err
	}
	return q.SetSubmissionCounters(ctx, c.IDs)
}

func setGenericLinks(ctx context.Context, q *store.Queries, c counters) error {
	return q.SetGenericLinkCounters(ctx, store.SetGenericLinkCountersParams{IDs: c.IDs, Views: c.Views})
}

// genericLinkViews counts the views of landing pages, as package view defines them.
func genericLinkViews() string {
	return withExpired + `
    SELECT generic_link_id AS link_id, sum(views) AS views, min(since) AS since, max(until) AS until
    FROM (` + view.Landings("account_id IN {accounts:Array(UUID)} AND generic_link_id IN {links:Array(UUID)}") + `)
    GROUP BY link_id
)
GROUP BY link_id` + view.InOrder
}

const touchedLinks = `
SELECT account_id, access_link_id, min(kafka_offset) AS first
FROM lodestone.events
WHERE kafka_topic_id = {topic:UUID} AND kafka_partition = {partition:Int32}
  AND kafka_offset >= {from:Int64} AND kafka_offset < {to:Int64}
GROUP BY account_id, access_link_id
ORDER BY first`

const touchedGenericLinks = `
SELECT account_id, generic_link_id, min(kafka_offset) AS first
FROM lodestone.link_views
WHERE kafka_topic_id = {topic:UUID} AND kafka_partition = {partition:Int32}
  AND kafka_offset >= {from:Int64} AND kafka_offset < {to:Int64}
GROUP BY account_id, generic_link_id
ORDER BY first`

// accessLinkViews counts the sessions of people that saw at least one page; an event without a session is a session of
// its own. The expressions must match the projection quarters literally, which answers the query.
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

// withExpired adds, to the views that follow, those of months that were deleted.
const withExpired = `
SELECT link_id, sum(views), min(since), max(until)
FROM
(
    SELECT link_id, views, first AS since, last AS until
    FROM lodestone.expired_views
    WHERE account_id IN {accounts:Array(UUID)} AND link_id IN {links:Array(UUID)}
      AND step IN (SELECT step FROM lodestone.retention_steps WHERE phase = 'done')
    UNION ALL`

// errBusy means that another process counts or drops months.
var errBusy = errors.New("another process is counting")

// count sets the counters of the links with events in the span, chunk by chunk. Each chunk is a transaction that ends
// with the progress: everything below the first event of the next link is counted. So row locks, which block readers
// who open a document, last for a few statements only, and an interrupted count resumes where it ended.
//
// The error is errBusy if another process holds the counters' lock, or has advanced the progress meanwhile.
func (c *Counter) count(ctx context.Context, conn driver.Conn, k kind, s span) error {
	var todo []link
	for first := true; ; first = false {
		counted := 0
		err := c.pool.Transaction(ctx, func(tx pgx.Tx) error {
			mine, err := retention.TryLock(ctx, tx)
			if err != nil {
				return err
			}
			if !mine {
				return errBusy
			}
			// Rows that this process read before it had the lock may have been counted since.
			if at, err := progress(ctx, store.New(tx), s.topicID); err != nil || at[s.partition] != s.from {
				return cmp.Or(err, errBusy)
			}
			if first {
				if todo, err = readTouched(ctx, conn, k, s); err != nil {
					return err
				}
			}
			chunk := todo[:min(chunkLinks, len(todo))]
			next := s.to
			if len(todo) > len(chunk) {
				next = todo[len(chunk)].first
			}
			if err := setCounters(ctx, conn, tx, k, chunk); err != nil {
				return err
			}
			if err := store.New(tx).SetCounterProgress(ctx, store.SetCounterProgressParams{TopicID: s.topicID, Partition: s.partition, NextOffset: next}); err != nil {
				return fmt.Errorf("set the counters' progress: %w", err)
			}
			counted, s.from = len(chunk), next
			return nil
		})
		if err != nil {
			return err
		}
		c.links.Add(float64(counted))
		if todo = todo[counted:]; len(todo) == 0 {
			return nil
		}
	}
}

// link is a link whose counters are set.
type link struct {
	account, id uuid.UUID
	first       int64 // offset of its first event in the span
}

// readTouched returns the links with events in the span, in the order of their first.
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
		if err := rows.Scan(&l.account, &l.id, &l.first); err != nil {
			return nil, fmt.Errorf("find links with new events: %w", err)
		}
		links = append(links, l)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("find links with new events: %w", err)
	}
	return links, nil
}

// setCounters counts the views of the links and stores the counts. The transaction must hold the counters' lock: the
// views are read under it, so that an older count cannot overwrite a newer one. Postgres is written to only when
// ClickHouse has answered everything, since row locks are held from then on.
func setCounters(ctx context.Context, conn driver.Conn, tx pgx.Tx, k kind, links []link) error {
	if err := retention.Finish(ctx, conn); err != nil {
		return err
	}
	before, err := retention.Moved(ctx, conn)
	if err != nil {
		return err
	}
	counted, err := countViews(ctx, conn, k, links)
	if err != nil {
		return err
	}
	var read []activity
	if k.sessions {
		if read, err = readActivity(ctx, conn, tx, links); err != nil {
			return err
		}
	}
	// A process that lost the lock without knowing it yet, with its Postgres, may have dropped a month meanwhile.
	if after, err := retention.Moved(ctx, conn); err != nil || after != before {
		return cmp.Or(err, errBusy)
	}
	if err := k.set(ctx, store.New(tx), counted); err != nil {
		return fmt.Errorf("set counters: %w", err)
	}
	return setActivity(ctx, tx, read)
}

// countViews returns the views of the links, and the times of the first and the last: 0 and zero times for a link without
// views.
func countViews(ctx context.Context, conn driver.Conn, k kind, links []link) (c counters, err error) {
	place := make(map[uuid.UUID]int, len(links))
	c = counters{
		IDs: make([]uuid.UUID, len(links)), Views: make([]int64, len(links)),
		First: make([]time.Time, len(links)), Last: make([]time.Time, len(links)),
	}
	accounts := make([]uuid.UUID, len(links))
	for i, l := range links {
		c.IDs[i], accounts[i], place[l.id] = l.id, l.account, i
	}
	rows, err := conn.Query(native.Context(ctx, native.WithParameters(native.Parameters{
		"accounts": clickhouse.UUIDs(distinct(accounts)),
		"links":    clickhouse.UUIDs(c.IDs),
	})), k.views)
	if err != nil {
		return counters{}, fmt.Errorf("count views: %w", err)
	}
	for rows.Next() {
		var id uuid.UUID
		var n uint64
		var first, last time.Time
		if err = rows.Scan(&id, &n, &first, &last); err != nil {
			break
		}
		if i, ok := place[id]; ok {
			c.Views[i], c.First[i], c.Last[i] = int64(n), first, last
		}
	}
	if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return counters{}, fmt.Errorf("count views: %w", err)
	}
	return c, nil
}
