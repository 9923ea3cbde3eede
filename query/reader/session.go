package reader

import (
	"context"
	_ "embed" // for the statement
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
	"lodestone/query/scope"
)

//go:embed session.sql
var sessionSQL string

// A story has at most so many sessions, and so many visits and downloads in all of them. The latter
// is also what session.sql returns of one session.
const (
	maxSessions = 500
	maxEvents   = 5000
)

// Session is an opening of an access link, without bots.
type Session struct {
	ID            *uuid.UUID // nil: an event that was sent without a session
	AccessLinkID  uuid.UUID
	LeadMagnetID  uuid.UUID
	Started, Last time.Time // first and last event
	UserAgent     string    // "": withheld
	Device        string
	PageViews     int64
	Pages         int64 // different pages viewed
	ReadingMS     int64
	Visits        []Visit
	Downloads     []Download
}

// Visit is a view of a page.
type Visit struct {
	Page, Version int // 0: not given
	Started       time.Time
	MS            int64
}

// Download is a download that began, or came to its end.
type Download struct {
	Type event.Type
	At   time.Time
}

// sessions reads the sessions of access links, newest first, and whether something was left out.
func (r *Readers) sessions(ctx context.Context, account uuid.UUID, links []uuid.UUID) (list []Session,
	truncated bool, err error) {
	left := maxEvents
	err = r.ch.Query(ctx, account, scope.Statement{
		Name: "sessions of a reader", SQL: sessionSQL,
		Params: map[string]string{"access_links": clickhouse.UUIDs(links), "max_sessions": strconv.Itoa(maxSessions + 1)},
	}, func(row scope.Row) error {
		var e sessionEvents
		s, all, err := scanSession(row, &e)
		if err != nil {
			return err
		}
		if len(list) == maxSessions {
			truncated = true
			return nil
		}
		n := min(left, len(e.times))
		left -= n
		truncated = truncated || n < all
		s.add(e, n)
		list = append(list, s)
		return nil
	})
	return list, truncated, err
}

// sessionEvents are the first events of a session, side by side.
type sessionEvents struct {
	times                        []int64
	types                        []string
	versions, numbers, durations []uint32
}

// scanSession reads a session, its first events, and how many it has.
func scanSession(row scope.Row, e *sessionEvents) (s Session, events int, err error) {
	var id uuid.UUID
	var named uint8
	var started, last int64
	var views, pages, ms, count uint64
	if err := row.Scan(&s.AccessLinkID, &id, &named, &s.LeadMagnetID, &started, &last, &s.UserAgent, &s.Device,
		&views, &pages, &ms, &count, &e.times, &e.types, &e.versions, &e.numbers, &e.durations); err != nil {
		return Session{}, 0, fmt.Errorf("read session: %w", err)
	}
	if named == 1 {
		s.ID = &id
	}
	s.Started, s.Last = time.UnixMilli(started).UTC(), time.UnixMilli(last).UTC()
	s.PageViews, s.Pages, s.ReadingMS = int64(views), int64(pages), int64(ms)
	return s, int(count), nil
}

// add adds the first n events.
func (s *Session) add(e sessionEvents, n int) {
	for i := range n {
		at := time.UnixMilli(e.times[i]).UTC()
		if kind, _ := event.ParseType(e.types[i]); kind != event.PageViewed {
			s.Downloads = append(s.Downloads, Download{kind, at})
			continue
		}
		s.Visits = append(s.Visits, Visit{int(e.numbers[i]), int(e.versions[i]), at, int64(e.durations[i])})
	}
}
