package verify

import (
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

	"lodestone/ingest/stream"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
	"lodestone/pkg/service"
	"lodestone/pkg/store"
)

const (
	linkBatch   = 2_000
	settleLooks = 5 // checks of a counter that differs
)

// linkKind is a kind of link whose counters are compared. Its queries differ from those that set
// the counters, so that they do not share an error, except for the definition of a landing page's
// view.
type linkKind struct {
	noun  string
	topic string // of its events
	table string // of rows, in ClickHouse
	link  string // its column
	views string // ClickHouse: link, views, first, last
	dated bool   // the link has viewed, first and last as well
}

func kinds() []linkKind {
	return []linkKind{
		{
			noun: "access link", topic: event.Topic, table: "events", link: "access_link_id", dated: true,
			views: `SELECT access_link_id, uniqExact(lead_magnet_id, if(session_id = toUUID('00000000-0000-0000-0000-000000000000'), event_id, session_id)),
				min(created_at), max(created_at) FROM lodestone.events
				WHERE account_id IN {accounts:Array(UUID)} AND access_link_id IN {links:Array(UUID)} AND event_type = 'page_viewed' AND bot = ''
				GROUP BY access_link_id`,
		},
		{
			noun: "generic link", topic: event.LinkViewTopic, table: "link_views", link: "generic_link_id",
			views: "SELECT generic_link_id, sum(views), min(since), max(until) FROM (" +
				stream.LandingViews("account_id IN {accounts:Array(UUID)} AND generic_link_id IN {links:Array(UUID)}") +
				") GROUP BY generic_link_id",
		},
	}
}

// counters are the counters of one link, from one side.
type counters struct {
	views       int64
	viewed      bool
	first, last time.Time // zero: none
}

func (c counters) String() string {
	if c.views == 0 && c.first.IsZero() {
		return "0 views"
	}
	at := func(t time.Time) string {
		if t.IsZero() {
			return "never"
		}
		return t.UTC().Format(time.RFC3339Nano)
	}
	return fmt.Sprintf("%d views (first %s, last %s)", c.views, at(c.first), at(c.last))
}

// pair holds the counters of a link from both sides.
type pair struct{ is, should counters }

func (p pair) agrees() bool {
	return p.is.views == p.should.views && p.is.viewed == p.should.viewed && p.is.first.Equal(p.should.first) &&
		p.is.last.Equal(p.should.last)
}

// compareCounters compares the counters of every link, or in a bounded span those of the links with
// rows in it.
func (v *Verifier) compareCounters(ctx context.Context, s Span, report *Report) error {
	for _, k := range kinds() {
		after := uuid.Nil
		for {
			ids, err := v.links(ctx, k, s, after)
			if err != nil {
				return err
			}
			if len(ids) == 0 {
				break
			}
			after = ids[len(ids)-1]
			report.Links += int64(len(ids))
			if err := v.compareLinks(ctx, k, ids, report); err != nil {
				return err
			}
		}
	}
	return nil
}

// scan reads much of Postgres. A replica may answer.
func (v *Verifier) scan(ctx context.Context, fn func(q *store.Queries) error) error {
	return v.Pool.Snapshot(ctx, func(tx pgx.Tx) error { return fn(store.New(tx)) })
}

// links returns the ids of the next links to compare, in Postgres' order or in ClickHouse's.
func (v *Verifier) links(ctx context.Context, k linkKind, s Span, after uuid.UUID) (ids []uuid.UUID, err error) {
	if s.unbounded() {
		var rows []store.LinksAfterRow
		if err := v.scan(ctx, func(q *store.Queries) (err error) {
			rows, err = q.LinksAfter(ctx, store.LinksAfterParams{Generic: k.topic == event.LinkViewTopic,
				After: after, MaxLinks: linkBatch})
			return err
		}); err != nil {
			return nil, fmt.Errorf("list links: %w", err)
		}
		for _, r := range rows {
			ids = append(ids, r.ID)
		}
		return ids, nil
	}
	since, until := s.Since, s.Until
	if since.IsZero() {
		since = time.UnixMilli(0)
	}
	if until.IsZero() {
		until = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return v.column(native.Context(ctx, native.WithParameters(native.Parameters{
		"after": after.String(), "since": fmt.Sprint(since.UnixMilli()), "until": fmt.Sprint(until.UnixMilli()),
		"limit": fmt.Sprint(linkBatch),
	})), "SELECT DISTINCT "+k.link+" FROM lodestone."+k.table+
		" WHERE received_at >= fromUnixTimestamp64Milli({since:Int64}) AND received_at < fromUnixTimestamp64Milli({until:Int64}) AND "+
		k.link+" > {after:UUID} ORDER BY "+k.link+" LIMIT {limit:UInt32}")
}

// column returns the ids that a query of ClickHouse yields.
func (v *Verifier) column(ctx context.Context, query string) (ids []uuid.UUID, err error) {
	rows, err := v.Conn.Query(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("list links: %w", err)
	}
	for rows.Next() {
		var id uuid.UUID
		if err = rows.Scan(&id); err != nil {
			break
		}
		ids = append(ids, id)
	}
	if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return nil, fmt.Errorf("list links: %w", err)
	}
	return ids, nil
}

// compareLinks compares the counters of links. Events keep coming and counters follow a little
// later, so a difference counts only if two checks find the same one.
func (v *Verifier) compareLinks(ctx context.Context, k linkKind, ids []uuid.UUID, report *Report) error {
	var before map[uuid.UUID]pair
	for look := 0; ; look++ {
		now, err := v.pairs(ctx, k, ids)
		if err != nil {
			return err
		}
		ids = ids[:0:0]
		for id, p := range now {
			switch earlier, seen := before[id]; {
			case seen && earlier == p:
				report.add(Difference{Kind: Counter, Topic: k.topic, Link: id, Count: 1,
					Text: fmt.Sprintf("%s %s has %s, its rows say %s", k.noun, id, p.is, p.should)})
			case look == settleLooks:
				report.Unsettled++
			default:
				ids = append(ids, id)
			}
		}
		if len(ids) == 0 {
			return nil
		}
		before = now
		if err := service.Sleep(ctx, v.Settle); err != nil {
			return err
		}
	}
}

// pairs returns both sides of the links that differ. Links that are not in Postgres (any more) have
// no counters.
func (v *Verifier) pairs(ctx context.Context, k linkKind, ids []uuid.UUID) (map[uuid.UUID]pair, error) {
	found := make(map[uuid.UUID]pair, len(ids))
	accounts := map[uuid.UUID]struct{}{}
	var rows []store.LinkCountersRow
	if err := v.scan(ctx, func(q *store.Queries) (err error) {
		rows, err = q.LinkCounters(ctx, ids)
		return err
	}); err != nil {
		return nil, fmt.Errorf("read counters: %w", err)
	}
	for _, r := range rows {
		found[r.ID] = pair{is: counters{r.ViewCount, r.ViewCount > 0, timeOf(r.FirstViewedAt), timeOf(r.LastViewedAt)}}
		accounts[r.AccountID] = struct{}{}
	}
	if len(found) == 0 {
		return found, nil
	}
	if err := v.count(ctx, k, found, accounts); err != nil {
		return nil, err
	}
	for id, p := range found {
		if p.agrees() {
			delete(found, id)
		}
	}
	return found, nil
}

// expired counts views of deleted months (package retention). A step that went on after an
// interruption may have two rows of a link.
const expired = `SELECT link_id, sum(n), min(since), max(until) FROM (
		SELECT link_id, e.step, max(views) AS n, min(first) AS since, max(last) AS until FROM lodestone.expired_views AS e
		INNER JOIN (SELECT DISTINCT step FROM lodestone.retention_steps WHERE phase = 'done') AS s ON s.step = e.step
		WHERE account_id IN {accounts:Array(UUID)} AND link_id IN {links:Array(UUID)} GROUP BY link_id, e.step
	) GROUP BY link_id`

// count fills in the counts of the rows, and the stored counts of deleted ones.
func (v *Verifier) count(ctx context.Context, k linkKind, found map[uuid.UUID]pair,
	accounts map[uuid.UUID]struct{}) error {
	p := native.Parameters{
		"accounts": clickhouse.UUIDs(slices.Collect(maps.Keys(accounts))),
		"links":    clickhouse.UUIDs(slices.Collect(maps.Keys(found))),
	}
	ctx = native.Context(ctx, native.WithParameters(p))
	if err := addViews(ctx, v.Conn, k.views, k.dated, found); err != nil {
		return err
	}
	// Each shard has steps of its own.
	return clickhouse.EachShard(v.Conn,
		func(shard driver.Conn) error { return addViews(ctx, shard, expired, k.dated, found) })
}

// addViews adds the counts of a query.
func addViews(ctx context.Context, conn driver.Conn, query string, dated bool, found map[uuid.UUID]pair) error {
	rows, err := conn.Query(ctx, query)
	if err != nil {
		return fmt.Errorf("count views: %w", err)
	}
	for rows.Next() {
		var id uuid.UUID
		var n uint64
		var first, last time.Time
		if err = rows.Scan(&id, &n, &first, &last); err != nil {
			break
		}
		p := found[id]
		p.should.views += int64(n)
		p.should.viewed = p.should.views > 0
		if dated && (p.should.first.IsZero() || first.Before(p.should.first)) {
			p.should.first = first.UTC()
		}
		if dated && last.After(p.should.last) {
			p.should.last = last.UTC()
		}
		found[id] = p
	}
	if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return fmt.Errorf("count views: %w", err)
	}
	return nil
}

func timeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}
