package counter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/ingest/stream"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/store"
)

// landingRows reads the links and minutes of the rows of spans. They are found by account, link and
// time, the order of the table.
const landingRows = `
SELECT account_id, generic_link_id, toStartOfMinute(created_at) AS minute, count(), max(created_at)
FROM lodestone.link_views
WHERE (account_id, generic_link_id) IN (
        SELECT account_id, generic_link_id FROM lodestone.link_views
        WHERE %[1]s)
    AND %[1]s AND `

const landingGroups = `
GROUP BY account_id, generic_link_id, minute`

// landingTimes are the conditions of search: a view happens when it is received, unless it waited
// in a spool.
func landingTimes() []string {
	return []string{
		"created_at >= fromUnixTimestamp64Milli({since:Int64}) - INTERVAL 15 MINUTE AND created_at < fromUnixTimestamp64Milli({since:Int64}) + INTERVAL 15 MINUTE",
		"created_at >= fromUnixTimestamp64Milli({since:Int64}) - INTERVAL 50 HOUR",
		"1",
	}
}

// minuteOf is a minute of a link.
type minuteOf struct {
	link   link
	minute time.Time
}

type minuteKey struct {
	link uuid.UUID
	unix int64
}

// landings is an addition of views of landing pages: of each minute with new rows, all views that
// are stored. How many visitors of the minute are new is thereby known without a list of them.
type landings struct {
	conn    driver.Conn
	of      map[minuteKey]int64 // views
	ids     []uuid.UUID
	minutes store.AddMinutesParams // the same as columns
	latest  time.Time              // of a row
}

func readLandings(ctx context.Context, conn driver.Conn, g spans) (addition, error) {
	found := &landings{conn: conn, of: map[minuteKey]int64{}}
	err := g.search(ctx, conn, "link_views", landingTimes(),
		func(ctx context.Context, where, time string) (uint64, error) {
			minutes, n, err := found.read(ctx, conn, fmt.Sprintf(landingRows, where)+time+landingGroups)
			if err != nil || len(minutes) == 0 {
				return n, err
			}
			return n, found.count(ctx, conn, minutes)
		})
	if err != nil {
		return nil, err
	}
	for key, views := range found.of {
		found.ids = append(found.ids, key.link)
		found.minutes.Links, found.minutes.Minutes = append(found.minutes.Links, key.link),
			append(found.minutes.Minutes, time.Unix(key.unix, 0))
		found.minutes.Views = append(found.minutes.Views, views)
	}
	found.ids = distinct(found.ids)
	return found, nil
}

func (l *landings) read(ctx context.Context, conn driver.Conn, query string) (minutes []minuteOf, n uint64, err error) {
	rows, err := conn.Query(ctx, query)
	if err != nil {
		return nil, 0, err
	}
	for rows.Next() {
		var m minuteOf
		var all uint64
		var latest time.Time
		if err = rows.Scan(&m.link.account, &m.link.id, &m.minute, &all, &latest); err != nil {
			break
		}
		n += all
		minutes = append(minutes, m)
		if latest.After(l.latest) {
			l.latest = latest
		}
	}
	return minutes, n, errors.Join(err, rows.Err(), rows.Close())
}

// count adds the views of minutes.
func (l *landings) count(ctx context.Context, conn driver.Conn, minutes []minuteOf) error {
	var accounts, links, of []uuid.UUID
	var starts []int64
	first, last := minutes[0].minute, minutes[0].minute
	for _, m := range minutes {
		accounts, links = append(accounts, m.link.account), append(links, m.link.id)
		of, starts = append(of, m.link.id), append(starts, m.minute.Unix())
		if m.minute.Before(first) {
			first = m.minute
		}
		if m.minute.After(last) {
			last = m.minute
		}
	}
	rows, err := conn.Query(native.Context(ctx, native.WithParameters(native.Parameters{
		"accounts": clickhouse.UUIDs(distinct(accounts)), "links": clickhouse.UUIDs(distinct(links)),
		"of": clickhouse.UUIDs(of), "starts": clickhouse.Numbers(starts),
		"first": fmt.Sprint(first.UnixMilli()), "last": fmt.Sprint(last.Add(time.Minute).UnixMilli()),
	})), `SELECT generic_link_id, minute, views FROM (`+stream.LandingViews(`account_id IN {accounts:Array(UUID)} AND generic_link_id IN {links:Array(UUID)}
		AND created_at >= fromUnixTimestamp64Milli({first:Int64}) AND created_at < fromUnixTimestamp64Milli({last:Int64})
		AND (generic_link_id, toInt64(toUnixTimestamp(toStartOfMinute(created_at)))) IN (SELECT arrayJoin(arrayZip({of:Array(UUID)}, {starts:Array(Int64)})) AS p)`)+`)`)
	if err != nil {
		return fmt.Errorf("count views of landing pages: %w", err)
	}
	for rows.Next() {
		var id uuid.UUID
		var minute time.Time
		var views uint64
		if err = rows.Scan(&id, &minute, &views); err != nil {
			break
		}
		key := minuteKey{id, minute.Unix()}
		l.of[key] = max(l.of[key], int64(views))
	}
	if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return fmt.Errorf("count views of landing pages: %w", err)
	}
	return nil
}

func (l *landings) links() []uuid.UUID { return l.ids }

func (l *landings) rowsSince() time.Time { return l.latest }

func (l *landings) store(ctx context.Context, tx pgx.Tx) error {
	q := store.New(tx)
	stale, err := l.stale(ctx, q)
	if err != nil {
		return err
	}
	set := map[uuid.UUID]bool{}
	for chunk := range slices.Chunk(stale, historyLinks) {
		if err := setChunk(ctx, tx, l.conn, setGenericLinks, chunk); err != nil {
			return err
		}
		for _, of := range chunk {
			set[of.id] = true
		}
	}
	if err := q.AddGenericLinkCounts(ctx, l.ids); err != nil {
		return err
	}
	if _, err := q.LockGenericLinkCounts(ctx, l.ids); err != nil {
		return err
	}
	// A minute may have left while nothing was locked.
	if stale, err = l.stale(ctx, q); err != nil {
		return err
	}
	if slices.ContainsFunc(stale, func(of link) bool { return !set[of.id] }) {
		return errBusy
	}
	if err := q.AddMinutes(ctx, l.minutes); err != nil {
		return err
	}
	return q.SetMinutes(ctx, store.SetMinutesParams(l.minutes))
}

// stale returns links with rows of minutes whose views are not kept any more. They are to be set by
// everything that is stored; what is added of such minutes adds nothing.
func (l *landings) stale(ctx context.Context, q *store.Queries) (stale []link, err error) {
	rows, err := q.GenericLinksSince(ctx, store.GenericLinksSinceParams{Links: l.minutes.Links,
		Minutes: l.minutes.Minutes})
	for _, r := range rows {
		stale = append(stale, link{r.AccountID, r.ID})
	}
	return stale, err
}

// forgetMinutes forgets the views by minute that no late view is expected to be added to.
func (c *Counter) forgetMinutes(ctx context.Context) error {
	if time.Since(c.forgot) < forgetEvery {
		return nil
	}
	before := time.Now().Add(-keepFor).Truncate(time.Minute)
	for {
		n, err := store.New(c.pool.Unscoped()).ForgetMinutes(ctx, before)
		if err != nil {
			return fmt.Errorf("forget minutes of landing pages: %w", err)
		}
		if n == 0 {
			c.forgot = time.Now()
			return nil
		}
	}
}
