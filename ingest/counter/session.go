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
	"lodestone/pkg/store"
)

// readSessions returns what people read in sessions. The start time of a session avoids reading earlier rows; a
// sender's clock is corrected, and the hour covers the remaining error.
const readSessions = `
SELECT session_id, max(created_at),
    arraySort(groupUniqArrayIf(10000)(page, event_type = 'page_viewed' AND page > 0)),
    sumIf(duration_ms, event_type = 'page_viewed'),
    countIf(event_type = 'download_completed')
FROM lodestone.events
WHERE account_id IN {accounts:Array(UUID)} AND access_link_id IN {links:Array(UUID)} AND session_id IN {sessions:Array(UUID)}
  AND created_at >= fromUnixTimestamp64Milli({since:Int64}) - INTERVAL 1 HOUR AND bot = ''
GROUP BY session_id`

// activity is what was read in a session.
type activity struct {
	session   uuid.UUID
	last      time.Time
	pages     string // a Postgres array
	duration  int64
	downloads int32
}

// readActivity returns the activity in the open sessions of links, and the time of the last one.
func readActivity(ctx context.Context, conn driver.Conn, tx pgx.Tx, links []link) ([]activity, error) {
	accounts, ids := make([]uuid.UUID, len(links)), make([]uuid.UUID, len(links))
	for i, l := range links {
		accounts[i], ids[i] = l.account, l.id
	}
	// Sessions that are over keep their reported activity.
	sessions, err := store.New(tx).OpenSessions(ctx, store.OpenSessionsParams{Accounts: accounts, Links: ids})
	if err != nil {
		return nil, fmt.Errorf("find open sessions: %w", err)
	}
	if len(sessions) == 0 {
		return nil, nil
	}
	since := sessions[0].StartedAt
	var owners, opened, wanted []uuid.UUID
	for _, s := range sessions {
		owners, opened, wanted = append(owners, s.AccountID), append(opened, s.AccessLinkID), append(wanted, s.ID)
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
		var duration, downloads uint64
		if err = found.Scan(&a.session, &a.last, &seen, &duration, &downloads); err != nil {
			break
		}
		a.pages, a.duration, a.downloads = integers(seen), int64(duration), int32(min(downloads, 1<<31-1))
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
	var p store.SetSessionActivityParams
	for _, a := range read {
		p.IDs, p.Last = append(p.IDs, a.session), append(p.Last, a.last)
		p.Pages, p.Durations = append(p.Pages, a.pages), append(p.Durations, a.duration)
		p.Downloads = append(p.Downloads, a.downloads)
	}
	if err := store.New(tx).SetSessionActivity(ctx, p); err != nil {
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
