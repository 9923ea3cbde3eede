package counter

import (
	"context"
	"errors"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/store"
)

// sessionRows reads the rows of spans by session. The rows are found by account and time, the
// order of the table, and by the index on stored_at. An event without a session is a session of its
// own.
const sessionRows = `
SELECT access_link_id, session_id, if(session_id = toUUID('00000000-0000-0000-0000-000000000000'), event_id, session_id) AS session,
    count(), countIf(bot = ''), countIf(event_type = 'page_viewed' AND bot = '') AS views,
    minIf(created_at, event_type = 'page_viewed' AND bot = ''), maxIf(created_at, event_type = 'page_viewed' AND bot = ''),
    maxIf(created_at, bot = ''),
    arraySort(groupUniqArrayIf(10000)(page, event_type = 'page_viewed' AND page > 0 AND bot = '')),
    sumIf(duration_ms, event_type = 'page_viewed' AND bot = ''),
    countIf(event_type = 'download_completed' AND bot = ''),
    countIf(event_type = 'page_viewed' AND bot = '' AND position(event_data, '"input":0') = 0) > 0 AS touched,
    maxIf(reinterpretAsInt64(sipHash64(ip_hash, user_agent)), bot = '' AND ip_hash != toFixedString('', 16)) AS client,
    max(stored_at)
FROM lodestone.events
WHERE account_id IN {accounts:Array(UUID)}
    AND `

const sessionGroups = `
GROUP BY access_link_id, session_id, session`

// sessionTimes are the conditions of search. An event happens up to 48 hours before it is received,
// or earlier if it waited in a spool. The index on stored_at leaves the granules of the other times
// unread, but is itself read for all times.
func sessionTimes() []string {
	return []string{
		"created_at >= fromUnixTimestamp64Milli({since:Int64}) - INTERVAL 15 MINUTE AND stored_at >= fromUnixTimestamp64Milli({since:Int64}) AND stored_at < fromUnixTimestamp64Milli({since:Int64}) + INTERVAL 10 SECOND",
		"created_at >= fromUnixTimestamp64Milli({since:Int64}) - INTERVAL 50 HOUR AND stored_at >= fromUnixTimestamp64Milli({since:Int64}) AND stored_at < fromUnixTimestamp64Milli({since:Int64}) + INTERVAL 10 MINUTE",
		"created_at >= fromUnixTimestamp64Milli({since:Int64}) - INTERVAL 50 HOUR AND stored_at >= fromUnixTimestamp64Milli({since:Int64})",
		"stored_at >= fromUnixTimestamp64Milli({since:Int64})",
		"1",
	}
}

// sessionKey is a session of a link.
type sessionKey struct{ link, session uuid.UUID }

// sessionAddition is the increment of one session by the rows of spans.
type sessionAddition struct {
	own         bool // the session is one event without a session
	views       uint64
	first, last time.Time // of the page views
	activity    activity
}

// sessions is an addition of events.
type sessions struct {
	conn   driver.Conn
	of     map[sessionKey]*sessionAddition
	ids    []uuid.UUID // links
	stored time.Time   // the latest
}

func readSessions(ctx context.Context, conn driver.Conn, g spans) (addition, error) {
	found := &sessions{conn: conn, of: map[sessionKey]*sessionAddition{}}
	err := g.search(ctx, conn, "events", sessionTimes(), func(ctx context.Context, where, time string) (uint64, error) {
		return found.read(ctx, sessionRows+where+" AND "+time+sessionGroups)
	})
	if err != nil {
		return nil, err
	}
	for key := range found.of {
		found.ids = append(found.ids, key.link)
	}
	found.ids = distinct(found.ids)
	return found, nil
}

// read adds the answer of a query, and returns how many rows it tells of.
func (s *sessions) read(ctx context.Context, query string) (n uint64, err error) {
	rows, err := s.conn.Query(ctx, query)
	if err != nil {
		return 0, err
	}
	for rows.Next() {
		var key sessionKey
		var session uuid.UUID
		var all, people, duration, downloads uint64
		var seen []uint32
		var stored time.Time
		a := &sessionAddition{}
		if err = rows.Scan(&key.link, &session, &key.session, &all, &people, &a.views, &a.first, &a.last, &a.activity.last,
			&seen, &duration, &downloads, &a.activity.touched, &a.activity.client, &stored); err != nil {
			break
		}
		n += all
		if stored.After(s.stored) {
			s.stored = stored
		}
		if people == 0 {
			continue
		}
		a.own = session == uuid.Nil
		a.activity.session, a.activity.link, a.activity.pages = key.session, key.link, seen
		a.activity.duration, a.activity.downloads = int64(duration), int32(min(downloads, 1<<31-1))
		if before := s.of[key]; before != nil {
			a.join(before)
		}
		s.of[key] = a
	}
	return n, errors.Join(err, rows.Err(), rows.Close())
}

// join adds what another query found of the session.
func (a *sessionAddition) join(b *sessionAddition) {
	if b.views > 0 && (a.views == 0 || b.first.Before(a.first)) {
		a.first = b.first
	}
	if b.views > 0 && (a.views == 0 || b.last.After(a.last)) {
		a.last = b.last
	}
	a.views += b.views
	a.activity.join(b.activity)
}

func (s *sessions) links() []uuid.UUID { return s.ids }

func (s *sessions) rowsSince() time.Time {
	if s.stored.IsZero() {
		return s.stored
	}
	return s.stored.Add(-storedBefore)
}

// storedBefore is how much earlier the next rows may have been stored than those before them: those
// of another shard, or of a batch that was tried again.
const storedBefore = 2 * time.Second

func (s *sessions) store(ctx context.Context, tx pgx.Tx) error {
	q := store.New(tx)
	if err := q.AddAccessLinkCounts(ctx, s.ids); err != nil {
		return err
	}
	if _, err := q.LockAccessLinkCounts(ctx, s.ids); err != nil {
		return err
	}
	var p store.AddSessionsParams
	var read []activity
	for key, a := range s.of {
		if a.views > 0 {
			p.Links, p.Sessions = append(p.Links, key.link), append(p.Sessions, key.session)
			p.Months = append(p.Months, monthOf(a.last))
			p.First, p.Last = append(p.First, a.first), append(p.Last, a.last)
		}
		if !a.own {
			read = append(read, a.activity)
		}
	}
	if len(p.Links) > 0 {
		if err := q.AddSessions(ctx, p); err != nil {
			return err
		}
	}
	if len(read) == 0 {
		return nil
	}
	return addActivity(ctx, q, read)
}
