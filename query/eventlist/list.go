package eventlist

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"lodestone/query/scope"
)

// Event is one event of a list.
type Event struct {
	ID           uuid.UUID // unique within the access link
	AccessLinkID uuid.UUID
	Type         string
	Data         []byte   // a JSON object
	IPHash       [16]byte // zero: withheld
	UserAgent    string   // empty: withheld
	Position     Position
}

// Lister reads event lists. It is safe for concurrent use.
type Lister struct{ door *scope.ClickHouse }

// New returns a Lister that reads through the door.
func New(door *scope.ClickHouse) *Lister { return &Lister{door} }

// Settled returns a time up to which every event that was ever stored can be seen by what is read
// after this call: the next pull of what is new loses nothing if it goes on there. It is some seconds
// back, or as far as the longest insert that still runs.
func (l *Lister) Settled(ctx context.Context) (time.Time, error) { return l.door.Settled(ctx) }

// Count returns how many events of the account the filter lets through.
func (l *Lister) Count(ctx context.Context, account uuid.UUID, f Filter) (int64, error) {
	var n uint64
	err := l.door.Query(ctx, account, countStatement(f), func(row scope.Row) error { return row.Scan(&n) })
	return int64(n), err
}

// Page returns up to limit events, newest first, after the first offset ones.
func (l *Lister) Page(ctx context.Context, account uuid.UUID, f Filter, offset, limit int64) ([]Event, error) {
	return l.read(ctx, account, pageStatement(f, offset, limit))
}

// After returns up to limit events, newest first, that come after the position. Events that are
// stored meanwhile neither move nor hide the others.
func (l *Lister) After(ctx context.Context, account uuid.UUID, f Filter, p Position, limit int64) ([]Event, error) {
	return l.read(ctx, account, afterStatement(f, p, limit))
}

func (l *Lister) read(ctx context.Context, account uuid.UUID, s scope.Statement) ([]Event, error) {
	var events []Event
	err := l.door.Query(ctx, account, s, func(row scope.Row) error {
		var e Event
		var hash []byte
		var created time.Time
		err := row.Scan(&e.ID, &e.AccessLinkID, &e.Type, &e.Data, &hash, &e.UserAgent,
			&created, &e.Position.TopicID, &e.Position.Partition, &e.Position.Offset)
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

const (
	// The wide columns are read for the rows of the page only: ClickHouse finds those by the
	// columns of the order and of the filter first.
	selection = `SELECT
    event_id, access_link_id, event_type, event_data, ip_hash, user_agent,
    created_at, kafka_topic_id, kafka_partition, kafka_offset
FROM lodestone.events
`
	// The order of the table's key, backwards, as a whole: with a part of it, or more than it,
	// ClickHouse would read everything and sort.
	order = `
ORDER BY created_at DESC, kafka_topic_id DESC, kafka_partition DESC, kafka_offset DESC
`
)

func pageStatement(f Filter, offset, limit int64) scope.Statement {
	where, params := conjunction(f.conditions())
	params["limit"], params["offset"] = strconv.FormatInt(limit, 10), strconv.FormatInt(offset, 10)
	return scope.Statement{
		Name:   "event page",
		SQL:    selection + where + order + "LIMIT {limit:UInt64} OFFSET {offset:UInt64}",
		Params: params,
	}
}

func afterStatement(f Filter, p Position, limit int64) scope.Statement {
	conditions := append(f.conditions(),
		// Implied by the next one, but the primary key is not searched by a tuple's first element.
		condition{"created_at <= fromUnixTimestamp64Milli({cursor_created_at:Int64}, 'UTC')", "cursor_created_at", milliseconds(p.CreatedAt)},
		condition{`(created_at, kafka_topic_id, kafka_partition, kafka_offset)
    < (fromUnixTimestamp64Milli({cursor_created_at:Int64}, 'UTC'), {cursor_topic:UUID}, {cursor_partition:Int32}, {cursor_offset:Int64})`, "cursor_topic", p.TopicID.String()},
	)
	where, params := conjunction(conditions)
	maps.Copy(params, map[string]string{
		"cursor_partition": strconv.FormatInt(int64(p.Partition), 10),
		"cursor_offset":    strconv.FormatInt(p.Offset, 10),
		"limit":            strconv.FormatInt(limit, 10),
	})
	return scope.Statement{Name: "event cursor", SQL: selection + where + order + "LIMIT {limit:UInt64}", Params: params}
}

func countStatement(f Filter) scope.Statement {
	conditions := f.conditions()
	if len(conditions) == 0 {
		// With a bound on the time, though it holds for every event, whole granules are counted
		// without reading them. Other filters are answered by projection sessions, unless they
		// come with a time, which it does not have.
		conditions = append(conditions, condition{"created_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')", "from", milliseconds(earliest)})
	}
	where, params := conjunction(conditions)
	return scope.Statement{Name: "event count", SQL: "SELECT count()\nFROM lodestone.events\n" + where, Params: params}
}

func conjunction(conditions []condition) (where string, params map[string]string) {
	params = map[string]string{}
	var b strings.Builder
	b.WriteString("WHERE account_id = {account:UUID}")
	for _, c := range conditions {
		b.WriteString("\n  AND " + c.sql)
		params[c.param] = c.value
	}
	return b.String(), params
}
