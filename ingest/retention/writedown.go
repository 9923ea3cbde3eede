package retention

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/ingest/stream"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/store"
)

const (
	// jobKey, with the number of the copy, is the key of the advisory lock of the process that writes
	// down a month.
	jobKey = 0x6c6f6465_72650000 // "lodere"

	// rangeRows is how many rows one statement adds up at most, of accounts that follow each other. An
	// account that has more is added up in parts, by its links.
	rangeRows = 10_000_000

	// rangeAccounts is how many accounts are looked at together.
	rangeAccounts = 1_000

	// spill is how much memory, in bytes, a statement takes before it uses the disk.
	spill = "500000000"
)

// writedown is a step whose views are being written down.
type writedown struct {
	state

	job   *Job
	conn  driver.Conn
	shard int32
	rows  uint64 // of the month, when it began
	moved bool   // views may have rows on several shards

	after            uuid.UUID // account; those up to it are written down
	buckets, written int32     // of the account after it, if it is written down in parts
}

// begin returns the present step of a month: the one that is on record, if it was interrupted, or a
// new one.
func (j *Job) begin(ctx context.Context, all, conn driver.Conn, month uint32) (*writedown, error) {
	// Of all shards: what a view has on another one decides whether it is written down now.
	err := clickhouse.EachShard(all, func(shard driver.Conn) error {
		s, err := lastStep(ctx, shard)
		if err == nil && s.phase == dropping {
			err = j.finishLast(ctx, shard)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	s, err := readState(ctx, conn)
	if err != nil {
		return nil, err
	}
	w := &writedown{job: j, conn: conn}
	if err := conn.QueryRow(ctx, "SELECT toInt32(max(id)) FROM lodestone.shard").Scan(&w.shard); err != nil {
		return nil, fmt.Errorf("read the id of a ClickHouse shard: %w", err)
	}
	q := store.New(j.pool.Unscoped())
	if j.store.Shards != "" {
		if w.moved, err = q.KeysMoved(ctx); err != nil {
			return nil, fmt.Errorf("read whether keys moved to other shards: %w", err)
		}
	}
	p, err := q.RetentionProgress(ctx, w.shard)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("read how far the retention is: %w", err)
	}
	if err == nil && s.phase == writingDown && s.month == month && p.Month == int32(month) && p.Step == int64(s.step) {
		w.state, w.rows, w.after, w.buckets, w.written = s, uint64(p.MonthRows), p.AfterAccount, p.Buckets, p.Written
		return w, nil
	}
	w.state = state{step: s.step + 1, month: month, phase: writingDown} // what a step wrote that was given up never counts
	if w.rows, err = monthRows(ctx, conn, month); err != nil {
		return nil, err
	}
	if err := w.state.write(ctx, conn); err != nil {
		return nil, err
	}
	err = q.BeginRetention(ctx, store.BeginRetentionParams{Shard: w.shard, Month: int32(month),
		Step: int64(w.step), MonthRows: int64(w.rows)})
	if err != nil {
		return nil, fmt.Errorf("write down how far the retention is: %w", err)
	}
	return w, nil
}

// finishLast finishes a step that was interrupted while it dropped.
func (j *Job) finishLast(ctx context.Context, conn driver.Conn) error {
	return j.pool.Transaction(ctx, func(tx pgx.Tx) error {
		if err := Lock(ctx, tx); err != nil {
			return err
		}
		return Finish(ctx, conn)
	})
}

// end forgets where the step is.
func (w *writedown) end(ctx context.Context) error {
	if err := store.New(w.job.pool.Unscoped()).EndRetention(ctx, store.EndRetentionParams{Shard: w.shard,
		Step: int64(w.step)}); err != nil {
		return fmt.Errorf("write down that a step of the retention ended: %w", err)
	}
	return nil
}

func (w *writedown) setProgress(ctx context.Context) error {
	err := store.New(w.job.pool.Unscoped()).SetRetentionProgress(ctx, store.SetRetentionProgressParams{
		Shard: w.shard, Step: int64(w.step), AfterAccount: w.after, Buckets: w.buckets, Written: w.written,
	})
	if err != nil {
		return fmt.Errorf("write down how far the retention is: %w", err)
	}
	return nil
}

// monthRows counts the rows of a month.
func monthRows(ctx context.Context, conn driver.Conn, month uint32) (n uint64, err error) {
	err = conn.QueryRow(native.Context(ctx, native.WithParameters(native.Parameters{"month": number(month)})),
		`SELECT sum(rows) FROM system.parts WHERE database = 'lodestone' AND table IN ('events', 'link_views') AND active AND partition_id = toString({month:UInt32})`).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count the rows of month %d: %w", month, err)
	}
	return n, nil
}

// write writes down the views that end with the month, some accounts at a time. Some may be written
// twice if it was interrupted: the rows are the same, and readers take one of them.
func (w *writedown) write(ctx context.Context) error {
	for {
		accounts, err := w.accounts(ctx)
		if err != nil || len(accounts) == 0 {
			return err
		}
		for len(accounts) > 0 {
			n, rows := 0, uint64(0)
			for n < len(accounts) && (n == 0 || w.buckets <= 1 && rows+accounts[n].rows <= w.job.rangeRows) {
				rows += accounts[n].rows
				n++
			}
			if err := w.writeRange(ctx, accounts[:n], rows); err != nil {
				return err
			}
			accounts = accounts[n:]
		}
	}
}

// account is an account with rows of the month.
type account struct {
	id   uuid.UUID
	rows uint64 // of all months: a session of the month may go on in later ones
}

// accounts returns the next accounts that have rows of the month, by the projection by_day.
func (w *writedown) accounts(ctx context.Context) (list []account, err error) {
	rows, err := w.conn.Query(native.Context(ctx, native.WithParameters(w.parameters())), `
		SELECT account_id, sum(n) FROM (
			SELECT account_id, toDate(created_at) AS day, count() AS n FROM lodestone.events WHERE account_id > {after:UUID} GROUP BY account_id, day
			UNION ALL
			SELECT account_id, toDate(created_at) AS day, count() AS n FROM lodestone.link_views
			WHERE account_id > {after:UUID} AND toYYYYMM(created_at) = {month:UInt32} GROUP BY account_id, day
		)
		GROUP BY account_id HAVING min(day) < toDate(fromUnixTimestamp64Milli({end:Int64}, 'UTC'))
		ORDER BY account_id LIMIT `+strconv.Itoa(rangeAccounts)+" SETTINGS max_bytes_before_external_group_by = "+spill)
	if err != nil {
		return nil, fmt.Errorf("list accounts of month %d: %w", w.month, err)
	}
	for rows.Next() {
		var a account
		if err = rows.Scan(&a.id, &a.rows); err != nil {
			break
		}
		list = append(list, a)
	}
	if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return nil, fmt.Errorf("list accounts of month %d: %w", w.month, err)
	}
	return list, nil
}

func (w *writedown) parameters() native.Parameters {
	return native.Parameters{
		"step": number(w.step), "month": number(w.month), "end": strconv.FormatInt(endOf(w.month).UnixMilli(),
			10), "after": w.after.String(),
	}
}

// writeRange writes down the views of accounts. If it is one that has too many rows, it does so in
// parts.
func (w *writedown) writeRange(ctx context.Context, accounts []account, rows uint64) error {
	if w.buckets == 0 {
		w.buckets = int32(max(1, min(10_000, (rows+w.job.rangeRows-1)/w.job.rangeRows)))
	}
	ids := make([]uuid.UUID, len(accounts))
	for i, a := range accounts {
		ids[i] = a.id
	}
	for ; w.written < w.buckets; w.written++ {
		if err := w.setProgress(ctx); err != nil {
			return err
		}
		p := w.parameters()
		p["accounts"], p["buckets"], p["bucket"] = clickhouse.UUIDs(ids), strconv.Itoa(int(w.buckets)),
			strconv.Itoa(int(w.written))
		for _, query := range []string{accessLinkViews(w.moved), genericLinkViews(w.moved)} {
			if err := execute(ctx, w.conn, query, p); err != nil {
				return fmt.Errorf("write down the views of month %d: %w", w.month, err)
			}
		}
		if w.job.wrote != nil {
			w.job.wrote()
		}
	}
	w.after, w.buckets, w.written = ids[len(ids)-1], 0, 0
	return w.setProgress(ctx)
}

// inRange are the rows of the accounts that are written down at a time.
const inRange = "account_id IN {accounts:Array(UUID)} AND cityHash64(%s) %% {buckets:UInt32} = {bucket:UInt32}"

// The keys of a partition move to another shard when it is doubled, or its topic is created again.
// So a session, or the visitors of a minute, may have rows on several shards. Then the shard that
// is the last to drop its rows writes the view down: as long as another one has rows of it, they
// count.

// accessLinkViews stores the views that end with a month: sessions with a page in it and none in a
// later one, which will count as long as that has rows. The first view of such a session is stored
// as well. No month before it has rows.
func accessLinkViews(moved bool) string {
	rows := "event_type = 'page_viewed' AND bot = '' AND " + fmt.Sprintf(inRange, "access_link_id")
	from, shards, having := "lodestone.events", "1 AS shards", "HAVING since < fromUnixTimestamp64Milli({end:Int64})"
	condition := rows
	if moved { // which of all sessions have rows on this shard is asked of it first
		from, shards, having = clickhouse.OverShards(from), "uniqExact(_shard_num) AS shards", ""
		condition += ` AND (account_id, access_link_id, lead_magnet_id, session) GLOBAL IN (
        SELECT account_id, access_link_id, lead_magnet_id,
            if(session_id = toUUID('00000000-0000-0000-0000-000000000000'), event_id, session_id)
        FROM lodestone.events WHERE toYYYYMM(created_at) = {month:UInt32} AND ` + rows + ")"
	}
	return `
INSERT INTO lodestone.expired_views (account_id, link_id, step, views, first, last)
SELECT account_id, access_link_id, {step:UInt32}, countIf(until < fromUnixTimestamp64Milli({end:Int64}) AND shards = 1), min(since), max(until)
FROM
(
    SELECT account_id, access_link_id, lead_magnet_id,
        if(session_id = toUUID('00000000-0000-0000-0000-000000000000'), event_id, session_id) AS session,
        min(created_at) AS since, max(created_at) AS until, ` + shards + `
    FROM ` + from + `
    WHERE ` + condition + `
    GROUP BY account_id, access_link_id, lead_magnet_id, session
    ` + having + `
)
GROUP BY account_id, access_link_id
SETTINGS max_bytes_before_external_group_by = ` + spill
}

// genericLinkViews stores the views of landing pages in a month.
func genericLinkViews(moved bool) string {
	inMonth := "toYYYYMM(created_at) = {month:UInt32} AND " + fmt.Sprintf(inRange, "generic_link_id")
	landings := stream.LandingViews(inMonth)
	if moved {
		const several = "HAVING uniqExact(_shard_num) > 1"
		minutes := "SELECT account_id, generic_link_id, toStartOfMinute(created_at) AS minute FROM " +
			clickhouse.OverShards("lodestone.link_views") +
			" WHERE bot = '' AND " + inMonth + " GROUP BY account_id, generic_link_id, minute " + several
		landings = stream.LandingViewsWithout(
			"SELECT account_id, generic_link_id, toStartOfMinute(created_at) AS minute, ip_hash, user_agent FROM "+
				clickhouse.OverShards("lodestone.link_views")+" WHERE bot = '' AND "+inMonth+
				" AND (account_id, generic_link_id, toStartOfMinute(created_at)) GLOBAL IN ("+minutes+
				") GROUP BY account_id, generic_link_id, minute, ip_hash, user_agent "+several, inMonth)
	}
	return `
INSERT INTO lodestone.expired_views (account_id, link_id, step, views, first, last)
SELECT account_id, generic_link_id, {step:UInt32}, sum(views), min(since), max(until)
FROM (` + landings + `)
GROUP BY account_id, generic_link_id` + stream.InOrderOfMinutes
}

// expireSessions deletes the counted sessions of months that are deleted, and the suspects of these
// months, some at a time. It waits for the counters to have what was stored before, so that a
// session that went on is not counted again.
func (j *Job) expireSessions(ctx context.Context) error {
	for {
		more := false
		err := j.pool.Transaction(ctx, func(tx pgx.Tx) error {
			q := store.New(tx)
			next, err := q.NextExpiry(ctx)
			if errors.Is(err, pgx.ErrNoRows) {
				return nil
			}
			if err != nil {
				return err
			}
			last, err := q.ExpireSessions(ctx, store.ExpireSessionsParams{
				AfterLink: next.AfterLink, AfterSession: next.AfterSession, Month: next.Month, MaxSessions: expireAtOnce,
			})
			if errors.Is(err, pgx.ErrNoRows) {
				n, err := q.ExpireSuspects(ctx, store.ExpireSuspectsParams{Month: next.Month, MaxSuspects: expireAtOnce})
				more = n == expireAtOnce
				if err != nil || more {
					return err
				}
				return q.SetExpiry(ctx, store.SetExpiryParams{AfterLink: next.AfterLink,
					AfterSession: next.AfterSession, Finished: true})
			}
			if err != nil {
				return err
			}
			more = true
			return q.SetExpiry(ctx, store.SetExpiryParams{AfterLink: last.LinkID, AfterSession: last.Session})
		})
		if err != nil {
			return fmt.Errorf("delete sessions of deleted months: %w", err)
		}
		if !more {
			return nil
		}
	}
}

// expireAtOnce is how many sessions are looked at in one transaction.
const expireAtOnce = 10_000
