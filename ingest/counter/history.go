package counter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/ingest/retention"
	"lodestone/ingest/stream"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
)

const (
	// historyLinks is how many links are set in one transaction.
	historyLinks = 500
	// historySessions is how many of their sessions are in memory.
	historySessions = 10_000
	// keepFor is for how long the views of a minute are kept, so that late ones can be added to them.
	keepFor = 4 * 24 * time.Hour
)

// setLinks sets counters by everything that is stored in a copy of the events.
func setLinks(ctx context.Context, pool *postgres.Pool, number int32, conn driver.Conn, k kind, links []link) error {
	for chunk := range slices.Chunk(links, historyLinks) {
		for {
			err := pool.Transaction(ctx, func(tx pgx.Tx) error {
				if err := requireTurn(ctx, store.New(tx), number); err != nil {
					return err
				}
				return setChunk(ctx, tx, conn, k.set, chunk)
			})
			if errors.Is(err, errBusy) {
				continue
			}
			if err != nil {
				return err
			}
			break
		}
	}
	return nil
}

// setChunk sets the counters of links while no month is deleted. The counters are locked before
// ClickHouse is read, so nothing is added to them meanwhile. Rows that are stored and that no span
// counted yet are in what is set, and add nothing later.
func setChunk(ctx context.Context, tx pgx.Tx, conn driver.Conn, set setter, links []link) error {
	if err := retention.Share(ctx, tx); err != nil {
		return err
	}
	if err := retention.Finish(ctx, conn); err != nil {
		return err
	}
	before, err := retention.Moved(ctx, conn)
	if err != nil {
		return err
	}
	if err := set(ctx, conn, store.New(tx), links); err != nil {
		return fmt.Errorf("set counters: %w", err)
	}
	// A process that lost the lock without knowing it yet, with its Postgres, may have deleted a month
	// meanwhile.
	if after, err := retention.Moved(ctx, conn); err != nil || after != before {
		return cmp.Or(err, errBusy)
	}
	return nil
}

// parameters are those of queries of links.
func parameters(links []link, more native.Parameters) native.Parameters {
	accounts, ids := make([]uuid.UUID, len(links)), make([]uuid.UUID, len(links))
	for i, l := range links {
		accounts[i], ids[i] = l.account, l.id
	}
	p := native.Parameters{"accounts": clickhouse.UUIDs(distinct(accounts)), "links": clickhouse.UUIDs(ids)}
	maps.Copy(p, more)
	return p
}

// owned returns those of the links whose counters the transaction holds.
func owned(links []link, ids []uuid.UUID) []link {
	held := make(map[uuid.UUID]bool, len(ids))
	for _, id := range ids {
		held[id] = true
	}
	return slices.DeleteFunc(slices.Clone(links), func(l link) bool { return !held[l.id] })
}

// allSessions reads the sessions of people that saw at least one page. The expressions must match
// the projection quarters literally, which answers the query in the order of links.
const allSessions = `
SELECT access_link_id,
    if(session_id = toUUID('00000000-0000-0000-0000-000000000000'), event_id, session_id) AS session,
    min(created_at), max(created_at)
FROM lodestone.events
WHERE account_id IN {accounts:Array(UUID)} AND access_link_id IN {links:Array(UUID)}
  AND event_type = 'page_viewed' AND bot = ''
GROUP BY account_id, access_link_id, session
SETTINGS max_bytes_before_external_group_by = 500000000`

func setAccessLinks(ctx context.Context, conn driver.Conn, q *store.Queries, links []link) error {
	ids := make([]uuid.UUID, len(links))
	for i, l := range links {
		ids[i] = l.id
	}
	if err := q.AddAccessLinkCounts(ctx, ids); err != nil {
		return err
	}
	mine, err := q.LockAccessLinkCounts(ctx, ids)
	if err != nil || len(mine) == 0 {
		return err
	}
	links = owned(links, mine)
	if err := q.ForgetSessions(ctx, mine); err != nil {
		return err
	}
	expired, err := readExpired(ctx, conn, links)
	if err != nil {
		return err
	}
	reset := store.ResetAccessLinkCountsParams{}
	for _, l := range links {
		e := expired[l.id]
		reset.IDs, reset.Views = append(reset.IDs, l.id), append(reset.Views, e.views)
		reset.First, reset.Last = append(reset.First, e.first), append(reset.Last, e.last)
	}
	if err := q.ResetAccessLinkCounts(ctx, reset); err != nil {
		return err
	}
	return addAllSessions(ctx, conn, q, links)
}

// addAllSessions adds the stored sessions of links, some at a time.
func addAllSessions(ctx context.Context, conn driver.Conn, q *store.Queries, links []link) error {
	rows, err := conn.Query(native.Context(ctx, native.WithParameters(parameters(links, nil))), allSessions)
	if err != nil {
		return fmt.Errorf("read sessions: %w", err)
	}
	var p store.AddSessionsParams
	flush := func() error {
		if len(p.Links) == 0 {
			return nil
		}
		err := q.AddSessions(ctx, p)
		p = store.AddSessionsParams{Links: p.Links[:0], Sessions: p.Sessions[:0], Months: p.Months[:0],
			First: p.First[:0], Last: p.Last[:0]}
		return err
	}
	for err == nil && rows.Next() {
		var id, session uuid.UUID
		var first, last time.Time
		if err = rows.Scan(&id, &session, &first, &last); err != nil {
			break
		}
		p.Links, p.Sessions, p.Months = append(p.Links, id), append(p.Sessions, session), append(p.Months, monthOf(last))
		p.First, p.Last = append(p.First, first), append(p.Last, last)
		if len(p.Links) == historySessions {
			err = flush()
		}
	}
	if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return fmt.Errorf("read sessions: %w", err)
	}
	return flush()
}

// expiredViews are those of deleted months. A step that was interrupted and went on may have
// written a link twice.
const expiredViews = `
SELECT link_id, sum(views), min(since), max(until)
FROM (
    SELECT link_id, step, max(views) AS views, min(first) AS since, max(last) AS until
    FROM lodestone.expired_views
    WHERE account_id IN {accounts:Array(UUID)} AND link_id IN {links:Array(UUID)} AND has({steps:Array(Int64)}, toInt64(step))
    GROUP BY link_id, step
)
GROUP BY link_id`

// counters are the views of a link, with the times of the first and of the last.
type counters struct {
	views       int64
	first, last time.Time
}

func readExpired(ctx context.Context, conn driver.Conn, links []link) (map[uuid.UUID]counters, error) {
	expired := map[uuid.UUID]counters{}
	// Each shard has steps of its own.
	err := clickhouse.EachShard(conn, func(shard driver.Conn) error {
		steps, err := retention.DoneSteps(ctx, shard)
		if err != nil || len(steps) == 0 {
			return err
		}
		rows, err := shard.Query(native.Context(ctx,
			native.WithParameters(parameters(links, native.Parameters{"steps": clickhouse.Numbers(steps)}))), expiredViews)
		if err != nil {
			return fmt.Errorf("read views of deleted months: %w", err)
		}
		for rows.Next() {
			var id uuid.UUID
			var views uint64
			var c counters
			if err = rows.Scan(&id, &views, &c.first, &c.last); err != nil {
				break
			}
			sum, seen := expired[id]
			if !seen || c.first.Before(sum.first) {
				sum.first = c.first
			}
			if !seen || c.last.After(sum.last) {
				sum.last = c.last
			}
			sum.views += int64(views)
			expired[id] = sum
		}
		if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
			return fmt.Errorf("read views of deleted months: %w", err)
		}
		return nil
	})
	return expired, err
}

// allLandings counts the views of landing pages, as stream.LandingViews defines them, by minute
// from a time on, and together before.
func allLandings() string {
	return `
SELECT generic_link_id, if(minute >= fromUnixTimestamp({since:Int64}), toInt64(toUnixTimestamp(minute)), 0) AS kept, sum(views)
FROM (` + stream.LandingViews("account_id IN {accounts:Array(UUID)} AND generic_link_id IN {links:Array(UUID)}") + `)
GROUP BY generic_link_id, kept` + stream.InOrderOfMinutes
}

func setGenericLinks(ctx context.Context, conn driver.Conn, q *store.Queries, links []link) error {
	ids := make([]uuid.UUID, len(links))
	for i, l := range links {
		ids[i] = l.id
	}
	if err := q.AddGenericLinkCounts(ctx, ids); err != nil {
		return err
	}
	locked, err := q.LockGenericLinkCounts(ctx, ids)
	if err != nil || len(locked) == 0 {
		return err
	}
	mine := make([]uuid.UUID, len(locked))
	for i, l := range locked {
		mine[i] = l.ID
	}
	links = owned(links, mine)
	expired, err := readExpired(ctx, conn, links)
	if err != nil {
		return err
	}
	since := time.Now().Add(-keepFor).Truncate(time.Minute)
	views, minutes, err := readAllLandings(ctx, conn, links, since)
	if err != nil {
		return err
	}
	reset := store.ResetGenericLinkCountsParams{MinutesSince: since}
	for _, l := range links {
		reset.IDs, reset.Views = append(reset.IDs, l.id), append(reset.Views, expired[l.id].views+views[l.id])
	}
	if err := q.ResetGenericLinkCounts(ctx, reset); err != nil {
		return err
	}
	return q.SetMinutes(ctx, minutes)
}

func readAllLandings(ctx context.Context, conn driver.Conn, links []link, since time.Time) (views map[uuid.UUID]int64,
	minutes store.SetMinutesParams, err error) {
	views = map[uuid.UUID]int64{}
	rows, err := conn.Query(native.Context(ctx,
		native.WithParameters(parameters(links, native.Parameters{"since": fmt.Sprint(since.Unix())}))), allLandings())
	if err != nil {
		return nil, minutes, fmt.Errorf("count views of landing pages: %w", err)
	}
	for rows.Next() {
		var id uuid.UUID
		var minute int64
		var n uint64
		if err = rows.Scan(&id, &minute, &n); err != nil {
			break
		}
		views[id] += int64(n)
		if minute > 0 {
			minutes.Links, minutes.Minutes = append(minutes.Links, id), append(minutes.Minutes, time.Unix(minute, 0))
			minutes.Views = append(minutes.Views, int64(n))
		}
	}
	if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return nil, minutes, fmt.Errorf("count views of landing pages: %w", err)
	}
	return views, minutes, nil
}
