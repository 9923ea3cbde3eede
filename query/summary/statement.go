package summary

import (
	_ "embed" // for the statements
	"strconv"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/clickhouse"
	"lodestone/query/scope"
)

//go:embed links.sql
var linksSQL string

//go:embed sessions.sql
var sessionsSQL string

// What narrows the sessions down.
const (
	// A link's lead magnet never changes and each event of it was signed with it, so that the links alone say which lead
	// magnets are meant.
	ofLinks = "  AND access_link_id IN {access_links:Array(UUID)}\n"
	// A row of projection sessions has no time, but each of its parts is of one month.
	beforeOpen = "  AND _partition_id < {open:String}\n"
	sinceOpen  = "  AND _partition_id >= {open:String}\n"
	bySession  = "GROUP BY access_link_id, lead_magnet_id, session\n"
)

// Views returns the statement that counts the views of access links, in one row: views, lead magnets, first and last page. It is
// what a summary asks of ClickHouse where nothing is remembered, for whoever measures that alone.
func Views(links []uuid.UUID) scope.Statement {
	return statement("email views",
		"SELECT count(), uniqExact(lead_magnet_id), min(first_page), max(last_page)\nFROM\n(\n"+sessionsSQL+ofLinks+bySession+")",
		map[string]string{"access_links": clickhouse.UUIDs(links)})
}

// viewsSince returns the statement that lists the sessions of access links with views in months that are not over.
func viewsSince(open time.Time, links []uuid.UUID) scope.Statement {
	return statement("email views since", sessionsSQL+ofLinks+sinceOpen+bySession,
		map[string]string{"access_links": clickhouse.UUIDs(links), "open": partition(open)})
}

// viewsBefore returns the statement that lists each access link's sessions with views in months that are over, as long as
// there are not more than limit in all.
func viewsBefore(open time.Time, limit int) scope.Statement {
	return statement("email views before",
		"SELECT access_link_id, lead_magnet_id, min(first_page), max(last_page), groupArray(session)\nFROM\n(\n"+sessionsSQL+beforeOpen+bySession+
			"LIMIT {limit:UInt64}\n)\nGROUP BY access_link_id, lead_magnet_id",
		map[string]string{"open": partition(open), "limit": strconv.Itoa(limit)})
}

// partition names the partition of the month that begins at a time.
func partition(begin time.Time) string { return strconv.FormatUint(uint64(scope.MonthOf(begin)), 10) }

func statement(name, sql string, params map[string]string) scope.Statement {
	return scope.Statement{
		Name: name, SQL: sql, Params: params,
		// Names what answers, so that nothing else is planned: a millisecond and a half of twenty.
		Projection: "sessions", Alone: true, AtOnce: true,
	}
}
