package erasure

import (
	"context"
	"fmt"
	"slices"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"lodestone/pkg/clickhouse"
)

const (
	linksAtOnce   = 1000       // of one change, which ClickHouse keeps as text
	maxQueryBytes = "67108864" // of that text
)

const (
	// data is event_data of a blank event, as Event.Blank writes it.
	data = `concat('{', arrayStringConcat(arrayFilter(x -> x != '', [if(page > 0, concat('"page":', toString(page)), ''), if(duration_ms > 0, concat('"duration_ms":', toString(duration_ms)), '')]), ','), '}')`
	// changes are the columns of a blank event; its place in the log and all that is counted stay.
	changes = `event_data = ` + data + `, ip_hash = toFixedString('', 16), user_agent = '', agent_names = '', origin = ''`
	// blank is the condition of one.
	blank = `event_data = ` + data + ` AND ip_hash = toFixedString('', 16) AND user_agent = '' AND agent_names = '' AND origin = ''`
	// mine is the condition that a row is of one of the links.
	mine = `account_id IN {accounts:Array(UUID)} AND access_link_id IN {links:Array(UUID)}`

	ownUpdate = "(UPDATE event_data = concat('{', " // begins the command of every change of events, as ClickHouse lists it
	ownDelete = "(DELETE WHERE "                    // and of copies
)

// copies are the tables with copies of what people typed (ingest/mirror).
var copies = []string{"access_links", "submissions"}

// link is an access link or a submission.
type link struct{ id, account uuid.UUID }

func parameters(links []link) native.Parameters {
	var ids, accounts []uuid.UUID
	for _, l := range links {
		ids = append(ids, l.id)
		if !slices.Contains(accounts, l.account) {
			accounts = append(accounts, l.account)
		}
	}
	return native.Parameters{"links": clickhouse.UUIDs(ids), "accounts": clickhouse.UUIDs(accounts)}
}

// blankAll blanks what of the links was stored since a time, and returns how many changes it asked ClickHouse for.
func blankAll(ctx context.Context, conn driver.Conn, links []link, since time.Time) (n int, err error) {
	for some := range slices.Chunk(links, linksAtOnce) {
		events, err := blankEvents(ctx, conn, some, since)
		if err != nil {
			return n, err
		}
		copied, err := removeCopies(ctx, conn, parameters(some))
		if err != nil {
			return n, err
		}
		n += events + copied
	}
	return n, nil
}

func blankEvents(ctx context.Context, conn driver.Conn, links []link, since time.Time) (n int, err error) {
	if err := clickhouse.AwaitMutations(ctx, conn, "events", ownUpdate); err != nil { // another process may have asked for the same
		return 0, err //nolint:wrapcheck // it says what failed
	}
	p := parameters(links)
	p["since"] = since.UTC().Format("2006-01-02 15:04:05")
	// The projection by_link answers this, however many events there are.
	read, err := clickhouse.Strings(ctx, conn, "SELECT DISTINCT toString(access_link_id) FROM lodestone.events WHERE "+mine+
		" AND stored_at >= toDateTime({since:String}, 'UTC')", p)
	if err != nil {
		return 0, fmt.Errorf("look for events of erased people: %w", err)
	}
	links = slices.DeleteFunc(slices.Clone(links), func(l link) bool { return !slices.Contains(read, l.id.String()) })
	if len(links) == 0 {
		return 0, nil
	}
	p = parameters(links)
	months, err := clickhouse.Strings(ctx, conn, "SELECT DISTINCT _partition_id FROM lodestone.events WHERE "+mine+" AND NOT ("+blank+")", p)
	if err != nil {
		return 0, fmt.Errorf("look for events of erased people: %w", err)
	}
	for _, month := range months {
		p["month"] = clickhouse.Text(month)
		if err := change(ctx, conn, "ALTER TABLE lodestone.events UPDATE "+changes+" IN PARTITION ID {month:String} WHERE "+mine+" AND NOT ("+blank+")", p); err != nil {
			return n, fmt.Errorf("blank events of erased people: %w", err)
		}
		n++
	}
	return n, clickhouse.AwaitMutations(ctx, conn, "events", ownUpdate) //nolint:wrapcheck // it says what failed
}

// removeCopies removes every version of copies: a version that says that the entity was deleted hides those before, and leaves them on the
// disk until they are merged.
func removeCopies(ctx context.Context, conn driver.Conn, p native.Parameters) (n int, err error) {
	const of = "account_id IN {accounts:Array(UUID)} AND id IN {links:Array(UUID)}"
	for _, table := range copies {
		found, err := clickhouse.Strings(ctx, conn, "SELECT toString(id) FROM lodestone."+table+" WHERE "+of+" AND deleted = 0 LIMIT 1", p)
		if err != nil {
			return n, fmt.Errorf("look for copies of erased people: %w", err)
		}
		if len(found) == 0 {
			continue
		}
		if err := change(ctx, conn, "ALTER TABLE lodestone."+table+" DELETE WHERE "+of, p); err != nil {
			return n, fmt.Errorf("remove copies of erased people: %w", err)
		}
		n++
		if err := clickhouse.AwaitMutations(ctx, conn, table, ownDelete); err != nil {
			return n, err //nolint:wrapcheck // it says what failed
		}
	}
	return n, nil
}

// change begins to change rows.
func change(ctx context.Context, conn driver.Conn, command string, p native.Parameters) error {
	return conn.Exec(native.Context(ctx, native.WithParameters(p), //nolint:wrapcheck // the caller does
		native.WithSettings(native.Settings{"mutations_sync": "0", "max_query_size": maxQueryBytes})), command)
}
