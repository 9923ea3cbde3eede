package counter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/clickhouse"
)

// openSessions finds the sessions of links ($1) that are not over yet. Earlier sessions keep their reported activity.
const openSessions = `
SELECT account_id, access_link_id, id, started_at FROM sessions
WHERE ended_at IS NULL AND (account_id, access_link_id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))`

// readSessions returns what people read in sessions. The start time of a session avoids reading earlier rows; a
// sender's clock is corrected, and the hour covers the remaining error.
const readSessions = `
SELECT session_id, max(created_at),
    arraySort(groupUniqArrayIf(10000)(page, event_type = 'page_viewed' AND page > 0)),
    sumIf(duration_ms, event_type = 'page_viewed')
FROM lodestone.events
WHERE account_id IN {accounts:Array(UUID)} AND access_link_id IN {links:Array(UUID)} AND session_id IN {sessions:Array(UUID)}
  AND created_at >= fromUnixTimestamp64Milli({since:Int64}) - INTERVAL 1 HOUR AND bot = ''
GROUP BY session_id`

const setSessions = `
UPDATE sessions s
SET last_active_at = greatest(s.last_active_at, n.last), pages = n.pages::integer[], duration_ms = n.duration
FROM unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::bigint[]) AS n (id, last, pages, duration)
WHERE s.id = n.id AND s.ended_at IS NULL
  AND (s.last_active_at < n.last OR (s.pages, s.duration_ms) IS DISTINCT FROM (n.pages::integer[], n.duration))`

// activity is what was read in a session.
type activity struct {
	session  uuid.UUID
	last     time.Time
	pages    string // a Postgres array
	duration int64
}

// readActivity returns the activity in the open sessions of links, and the time of the last one.
func readActivity(ctx context.Context, conn driver.Conn, tx pgx.Tx, links []link) ([]activity, error) {
	accounts, ids := make([]uuid.UUID, len(links)), make([]uuid.UUID, len(links))
	for i, l := range links {
		accounts[i], ids[i] = l.account, l.id
	}
	type open struct {
		Account, Link, ID uuid.UUID
		StartedAt         time.Time
	}
	rows, err := tx.Query(ctx, openSessions, accounts, ids)
	if err != nil {
		return nil, fmt.Errorf("find open sessions: %w", err)
	}
	sessions, err := pgx.CollectRows(rows, pgx.RowToStructByPos[open])
	if err != nil {
		return nil, fmt.Errorf("find open sessions: %w", err)
	}
	if len(sessions) == 0 {
		return nil, nil
	}
	since := sessions[0].StartedAt
	var owners, opened, wanted []uuid.UUID
	for _, s := range sessions {
		owners, opened, wanted = append(owners, s.Account), append(opened, s.Link), append(wanted, s.ID)
		if s.StartedAt.Before(since) {
			since = s.StartedAt
		}
	}
	return askActivity(ctx, conn, native.Parameters{
		"accounts": clickhouse.UUIDs(distinct(owners)),
		"links":    clickhouse.UUIDs(distinct(opened)),
		"sessions": clickhouse.UUIDs(wanted),
		"since":    strconv.FormatInt(since.UnixMilli(), 10),
	})
}

func askActivity(ctx context.Context, conn driver.Conn, p native.Parameters) (read []activity, err error) {
	found, err := conn.Query(native.Context(ctx, native.WithParameters(p)), readSessions)
	if err != nil {
		return nil, fmt.Errorf("read sessions: %w", err)
	}
	for found.Next() {
		var a activity
		var seen []uint32
		var duration uint64
		if err = found.Scan(&a.session, &a.last, &seen, &duration); err != nil {
			break
		}
		a.pages, a.duration = integers(seen), int64(duration)
		read = append(read, a)
	}
	if err = errors.Join(err, found.Err(), found.Close()); err != nil {
		return nil, fmt.Errorf("read sessions: %w", err)
	}
	return read, nil
}

// setActivity stores the activity of sessions that are still open.
func setActivity(ctx context.Context, tx pgx.Tx, read []activity) error {
	if len(read) == 0 {
		return nil
	}
	ids, last := make([]uuid.UUID, len(read)), make([]time.Time, len(read))
	pages, durations := make([]string, len(read)), make([]int64, len(read))
	for i, a := range read {
		ids[i], last[i], pages[i], durations[i] = a.session, a.last, a.pages, a.duration
	}
	if _, err := tx.Exec(ctx, setSessions, ids, last, pages, durations); err != nil {
		return fmt.Errorf("set activity of sessions: %w", err)
	}
	return nil
}

// integers formats numbers as a Postgres array of integers, without those that are too large for one.
func integers(numbers []uint32) string {
	texts := make([]string, 0, len(numbers))
	for _, n := range numbers {
		if n <= 1<<31-1 {
			texts = append(texts, strconv.FormatUint(uint64(n), 10))
		}
	}
	return "{" + strings.Join(texts, ",") + "}"
}

func distinct(ids []uuid.UUID) []uuid.UUID {
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(ids)
}
