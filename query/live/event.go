package live

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"lodestone/query/eventlist"
	"lodestone/query/scope"
)

// Event is an event of the stream.
type Event struct {
	eventlist.Event
	AccountID    uuid.UUID
	LeadMagnetID uuid.UUID
	SessionID    uuid.UUID // zero: none
	Bot          bool
	StoredAt     time.Time // by the clock of ClickHouse, in whole milliseconds

	late bool // its offset was passed before it was stored
}

// matches reports whether a filter of the list lets an event through.
func matches(f *eventlist.Filter, e *Event) bool {
	return (f.AccessLinkID == nil || *f.AccessLinkID == e.AccessLinkID) &&
		(f.LeadMagnetID == nil || *f.LeadMagnetID == e.LeadMagnetID) &&
		(f.Type == 0 || f.Type.String() == e.Type) &&
		(f.From == nil || !e.Position.CreatedAt.Before(*f.From)) &&
		(f.To == nil || e.Position.CreatedAt.Before(*f.To)) &&
		(f.ReceivedAfter == nil || e.StoredAt.After(f.ReceivedAfter.Truncate(time.Millisecond))) &&
		(f.Bot == nil || *f.Bot == e.Bot)
}

const columns = `SELECT
    event_id, access_link_id, event_type, event_data, ip_hash, user_agent,
    created_at, kafka_topic_id, kafka_partition, kafka_offset,
    account_id, lead_magnet_id, session_id, bot != '' AS is_bot, stored_at, `

// unread reads the events of some accounts in a window: first those that fill gaps, in the order in which they were stored,
// then all others in the order of the log.
const unread = columns + `kafka_offset < {window_from:Map(String, Int64)}[` + scope.PartitionColumn + `] AS late
FROM lodestone.events
WHERE account_id IN {accounts:Array(UUID)} AND ` + scope.Unread + `
ORDER BY late DESC, if(late, stored_at, fromUnixTimestamp64Milli(0, 'UTC')), ` + scope.PartitionColumn + `, kafka_offset
LIMIT {limit:UInt64}`

// read returns up to limit events of some accounts in a window.
func read(ctx context.Context, ch *scope.ClickHouse, accounts []uuid.UUID, w scope.Window, limit int) ([]*Event, error) {
	s := scope.Statement{Name: "live events", SQL: unread, Params: w.Params(), Projection: scope.NoProjection}
	s.Params["limit"] = strconv.Itoa(limit)
	return scan(func(each func(scope.Row) error) error { return ch.Follow(ctx, accounts, s, each) })
}

// scan returns the events of a statement.
func scan(query func(each func(scope.Row) error) error) (events []*Event, err error) {
	err = query(func(row scope.Row) error {
		e := &Event{}
		var hash []byte
		var created time.Time
		err := row.Scan(&e.ID, &e.AccessLinkID, &e.Type, &e.Data, &hash, &e.UserAgent,
			&created, &e.Position.TopicID, &e.Position.Partition, &e.Position.Offset,
			&e.AccountID, &e.LeadMagnetID, &e.SessionID, &e.Bot, &e.StoredAt, &e.late)
		if err != nil {
			return fmt.Errorf("read event: %w", err)
		}
		copy(e.IPHash[:], hash)
		e.Position.CreatedAt = created.UTC()
		events = append(events, e)
		return nil
	})
	return events, err
}
