package counter

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/store"
)

// activity is what was read in a session.
type activity struct {
	session, link uuid.UUID
	last          time.Time
	pages         []uint32
	duration      int64
	downloads     int32
}

func (a *activity) join(b activity) {
	if b.last.After(a.last) {
		a.last = b.last
	}
	a.pages = append(a.pages, b.pages...)
	a.duration += b.duration
	a.downloads += b.downloads
}

// addActivity adds to the activity of sessions that are open. Sessions that are over keep what was reported.
func addActivity(ctx context.Context, q *store.Queries, read []activity) error {
	var p store.AddSessionActivityParams
	for _, a := range read {
		p.IDs, p.Links, p.Last = append(p.IDs, a.session), append(p.Links, a.link), append(p.Last, a.last)
		p.Pages, p.Durations = append(p.Pages, integers(a.pages)), append(p.Durations, a.duration)
		p.Downloads = append(p.Downloads, a.downloads)
	}
	if err := q.AddSessionActivity(ctx, p); err != nil {
		return fmt.Errorf("add activity of sessions: %w", err)
	}
	return nil
}

// sessionActivity reads what people read in sessions. The start time of a session avoids reading earlier rows; a sender's clock
// is corrected, and the hour covers the remaining error.
const sessionActivity = `
SELECT session_id, max(created_at),
    arraySort(groupUniqArrayIf(10000)(page, event_type = 'page_viewed' AND page > 0)),
    sumIf(duration_ms, event_type = 'page_viewed'),
    countIf(event_type = 'download_completed')
FROM lodestone.events
WHERE account_id IN {accounts:Array(UUID)} AND access_link_id IN {links:Array(UUID)} AND session_id IN {sessions:Array(UUID)}
  AND created_at >= fromUnixTimestamp64Milli({since:Int64}) - INTERVAL 1 HOUR AND bot = ''
  AND NOT (kafka_topic_id = {topic:UUID} AND kafka_partition = {partition:Int32} AND kafka_offset >= {below:Int64})
GROUP BY session_id`

// readActivity reads the whole activity of the sessions of a span that are open, for a span that may be added again. Rows of the
// partition from below on are left out: they will be added.
func (s *sessions) readActivity(ctx context.Context, q *store.Queries, below int64) (read []activity, err error) {
	var p store.OpenSessionsParams
	for key, a := range s.of {
		if !a.own {
			p.Links, p.IDs = append(p.Links, key.link), append(p.IDs, key.session)
		}
	}
	if len(p.IDs) == 0 {
		return nil, nil
	}
	open, err := q.OpenSessions(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("find open sessions: %w", err)
	}
	if len(open) == 0 {
		return nil, nil
	}
	since := open[0].StartedAt
	var owners, links, wanted []uuid.UUID
	for _, o := range open {
		owners, links, wanted = append(owners, o.AccountID), append(links, o.AccessLinkID), append(wanted, o.ID)
		if o.StartedAt.Before(since) {
			since = o.StartedAt
		}
	}
	found, err := s.conn.Query(native.Context(ctx, native.WithParameters(native.Parameters{
		"accounts": clickhouse.UUIDs(distinct(owners)),
		"links":    clickhouse.UUIDs(distinct(links)),
		"sessions": clickhouse.UUIDs(wanted),
		"since":    strconv.FormatInt(since.UnixMilli(), 10),
		"topic":    s.span.topicID.String(), "partition": fmt.Sprint(s.span.partition), "below": fmt.Sprint(below),
	})), sessionActivity)
	if err != nil {
		return nil, fmt.Errorf("read sessions: %w", err)
	}
	for found.Next() {
		var a activity
		var duration, downloads uint64
		if err = found.Scan(&a.session, &a.last, &a.pages, &duration, &downloads); err != nil {
			break
		}
		a.duration, a.downloads = int64(duration), int32(min(downloads, 1<<31-1))
		read = append(read, a)
	}
	if err = errors.Join(err, found.Err(), found.Close()); err != nil {
		return nil, fmt.Errorf("read sessions: %w", err)
	}
	return read, nil
}

// setActivity stores the activity of sessions that are still open.
func setActivity(ctx context.Context, q *store.Queries, read []activity) error {
	if len(read) == 0 {
		return nil
	}
	var p store.SetSessionActivityParams
	for _, a := range read {
		p.IDs, p.Last = append(p.IDs, a.session), append(p.Last, a.last)
		p.Pages, p.Durations = append(p.Pages, integers(a.pages)), append(p.Durations, a.duration)
		p.Downloads = append(p.Downloads, a.downloads)
	}
	if err := q.SetSessionActivity(ctx, p); err != nil {
		return fmt.Errorf("set activity of sessions: %w", err)
	}
	return nil
}
