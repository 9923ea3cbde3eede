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
	blank = `event_data = ` + data +
		` AND ip_hash = toFixedString('', 16) AND user_agent = '' AND agent_names = '' AND origin = ''`
	// The same of views of landing pages, which belong to accounts only.
	viewChanges = `referrer = '', url = '', ip_hash = toFixedString('', 16), user_agent = '', agent_names = '', origin = ''`
	viewBlank   = `referrer = '' AND url = '' AND ip_hash = toFixedString('', 16) AND user_agent = '' AND agent_names = '' AND origin = ''`

	// mine is the condition that a row is of one of the access links, and whole that it is of one of
	// the accounts. The first is one that the projection by_link serves.
	mine  = `account_id IN {accounts:Array(UUID)} AND access_link_id IN {ids:Array(UUID)}`
	whole = `account_id IN {ids:Array(UUID)}`
	// copiesOfLinks is the condition that a copy is of one of the access links or submissions.
	copiesOfLinks = `account_id IN {accounts:Array(UUID)} AND id IN {ids:Array(UUID)}`

	ownUpdate = "(UPDATE event_data = concat('{', " // begins the command of every change of events, as ClickHouse lists it
	ownViews  = "(UPDATE referrer = '', url = ''"   // of views of landing pages
	ownDelete = "(DELETE WHERE "                    // and of copies
)

// copies are the tables with copies of what people typed (ingest/mirror), and copiesOfOwners those
// of what owners typed.
var (
	copies         = []string{"access_links", "submissions"}
	copiesOfOwners = []string{"lead_magnets", "generic_links"}
)

// link is an access link, a submission, or a whole account, with the account's id in both fields.
type link struct{ id, account uuid.UUID }

func (l link) whole() bool { return l.id == l.account }

func parameters(links []link) native.Parameters {
	var ids, accounts []uuid.UUID
	for _, l := range links {
		ids = append(ids, l.id)
		if !slices.Contains(accounts, l.account) {
			accounts = append(accounts, l.account)
		}
	}
	return native.Parameters{"ids": clickhouse.UUIDs(ids), "accounts": clickhouse.UUIDs(accounts)}
}

// blankAll blanks what of the links was stored since a time, and returns how many changes it asked
// ClickHouse for.
func blankAll(ctx context.Context, conn driver.Conn, links []link, since time.Time) (n int, err error) {
	for some := range slices.Chunk(links, linksAtOnce) {
		people, accounts := part(some)
		for _, step := range []func() (int, error){
			// Copies have the address and are small. Events wait for merges that run.
			func() (int, error) { return removeCopies(ctx, conn, people, copies, copiesOfLinks) },
			func() (int, error) {
				return removeCopies(ctx, conn, accounts, slices.Concat(copies, copiesOfOwners), whole)
			},
			func() (int, error) { return blankEvents(ctx, conn, people, since, mine, "access_link_id") },
			func() (int, error) { return blankEvents(ctx, conn, accounts, since, whole, "account_id") },
			func() (int, error) { return blankViews(ctx, conn, accounts) },
		} {
			changes, err := step()
			n += changes
			if err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// part returns the accounts among links apart.
func part(links []link) (people, accounts []link) {
	for _, l := range links {
		if l.whole() {
			accounts = append(accounts, l)
		} else {
			people = append(people, l)
		}
	}
	return people, accounts
}

// left is the condition that a row of a table is not blank, or that a copy is not gone.
func left(table string) string {
	switch table {
	case "events":
		return "NOT (" + blank + ")"
	case "link_views":
		return "NOT (" + viewBlank + ")"
	default:
		return "deleted = 0"
	}
}

// blankEvents blanks the events that a condition chooses by the ids of links, which a column has.
func blankEvents(ctx context.Context, conn driver.Conn, links []link, since time.Time, where,
	column string) (n int, err error) {
	if len(links) == 0 {
		return 0, nil
	}
	if err := clickhouse.AwaitMutations(ctx, conn, "events",
		ownUpdate); err != nil { // another process may have asked for the same
		return 0, err
	}
	p := parameters(links)
	p["since"] = since.UTC().Format("2006-01-02 15:04:05")
	// The projection by_link answers this, however many events there are.
	read, err := clickhouse.Strings(ctx, conn, "SELECT DISTINCT toString("+column+") FROM lodestone.events WHERE "+where+
		" AND stored_at >= toDateTime({since:String}, 'UTC')", p)
	if err != nil {
		return 0, fmt.Errorf("look for events of erased people: %w", err)
	}
	links = slices.DeleteFunc(slices.Clone(links), func(l link) bool { return !slices.Contains(read, l.id.String()) })
	if len(links) == 0 {
		return 0, nil
	}
	return blankRows(ctx, conn, parameters(links), "events", changes, where, ownUpdate)
}

// blankViews blanks the views of landing pages of accounts.
func blankViews(ctx context.Context, conn driver.Conn, accounts []link) (n int, err error) {
	if len(accounts) == 0 {
		return 0, nil
	}
	if err := clickhouse.AwaitMutations(ctx, conn, "link_views",
		ownViews); err != nil { // another process may have asked for the same
		return 0, err
	}
	return blankRows(ctx, conn, parameters(accounts), "link_views", viewChanges, whole, ownViews)
}

// blankRows changes the rows of a table that a condition chooses and that are left, a month at a
// time.
func blankRows(ctx context.Context, conn driver.Conn, p native.Parameters, table, changes, where,
	own string) (n int, err error) {
	where += " AND " + left(table)
	months, err := clickhouse.Strings(ctx, conn, "SELECT DISTINCT _partition_id FROM lodestone."+table+" WHERE "+where, p)
	if err != nil {
		return 0, fmt.Errorf("look for %s of erased people: %w", table, err)
	}
	for _, month := range months {
		p["month"] = clickhouse.Text(month)
		if err := change(ctx, conn, "ALTER TABLE lodestone."+table+" UPDATE "+changes+
			" IN PARTITION ID {month:String} WHERE "+where, p); err != nil {
			return n, fmt.Errorf("blank %s of erased people: %w", table, err)
		}
		n++
	}
	return n, clickhouse.AwaitMutations(ctx, conn, table, own)
}

// removeCopies removes every version of copies: a version that says that the entity was deleted
// hides those before, and leaves them on the disk until they are merged.
func removeCopies(ctx context.Context, conn driver.Conn, links []link, tables []string, of string) (n int, err error) {
	if len(links) == 0 {
		return 0, nil
	}
	p := parameters(links)
	for _, table := range tables {
		found, err := clickhouse.Strings(ctx, conn, "SELECT toString(id) FROM lodestone."+table+" WHERE "+of+
			" AND "+left(table)+" LIMIT 1", p)
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
			return n, err
		}
	}
	return n, nil
}

// change begins to change rows.
func change(ctx context.Context, conn driver.Conn, command string, p native.Parameters) error {
	return conn.Exec(native.Context(ctx, native.WithParameters(p),
		native.WithSettings(native.Settings{"mutations_sync": "0", "max_query_size": maxQueryBytes})), command)
}
