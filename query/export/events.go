package export

import (
	"strings"

	"lodestone/pkg/attachment"
	"lodestone/query/scope"
)

// column is a column of a file.
type column struct {
	name   string
	sql    string // of lodestone.events
	isText bool   // may have any characters
	isJSON bool   // text that is a JSON object
}

const (
	noID   = "toUUID('00000000-0000-0000-0000-000000000000')"
	noHash = "toFixedString('', 16)"
)

// eventData is stored JSON in a form that every reader takes. Line breaks can only stand between
// its tokens, and would end a line of NDJSON. A surrogate that stands alone becomes the replacement
// character, as in the API: first every escape gets a mark after it, and one that stands for no
// character is replaced by the mark.
const (
	escape       = `\\\\[^u]|\\\\u(?:[^dD].{3}|[dD][0-7].{2}|[dD][89abAB].{2}\\\\u[dD][c-fC-F].{2})`
	oneLine      = `translate(event_data, '\n\r\t', '   ')`
	markedJSON   = `replaceRegexpAll(` + oneLine + `, '(` + escape + `)|\\\\u[dD][89a-fA-F].{2}', '\\1\x01')`
	repairedJSON = `replaceAll(replaceRegexpAll(` + markedJSON + `, '(` + escape + `)\x01', '\\1'), '\x01', '\\ufffd')`
	eventData    = `if(match(event_data, '\\\\u[dD][89a-fA-F]'), ` + repairedJSON + `, ` + oneLine + `)`
)

// events lists the columns of an event: those of the API, and then the others. What is absent is
// null.
var events = []column{
	{name: "id", sql: "event_id"},
	{name: "access_link_id", sql: "access_link_id"},
	{name: "event_type", sql: "toString(event_type)"},
	{name: "event_data", sql: eventData, isText: true, isJSON: true},
	{name: "ip_hash", sql: "if(ip_hash = " + noHash + ", NULL, lower(hex(ip_hash)))"},
	{name: "user_agent", sql: "nullIf(toValidUTF8(user_agent), '')", isText: true},
	{name: "created_at", sql: "created_at"},
	{name: "lead_magnet_id", sql: "lead_magnet_id"},
	{name: "generic_link_id", sql: "nullIf(generic_link_id, " + noID + ")"},
	{name: "session_id", sql: "nullIf(session_id, " + noID + ")"},
	{name: "page", sql: "nullIf(page, 0)"},
	{name: "duration_ms", sql: "nullIf(duration_ms, 0)"},
	{name: "magnet_version", sql: "magnet_version"},
	{name: "bot", sql: "nullIf(bot, '')", isText: true},
	{name: "received_at", sql: "received_at"},
}

// visitor lists what else is stored of the visitor of an event. Files have it on request alone:
// programs read files of many days as one table.
var visitor = []column{
	{name: "browser", sql: "nullIf(substringIndex(agent_names, '/', 1), '')", isText: true},
	{name: "os", sql: "nullIf(substringIndex(agent_names, '/', -1), '')", isText: true},
	{name: "country", sql: "nullIf(substringIndex(origin, '/', 1), '')", isText: true},
	{name: "language", sql: "nullIf(substringIndex(origin, '/', -1), '')", isText: true},
}

// expression returns the SQL of the column in a file. Texts of CSV are as attachment.Cell has them.
// A JSON object begins with a brace, and stays the same object: an escape takes the place of a
// character of its texts that a spreadsheet may part cells at.
func (c column) expression(f attachment.Format) string {
	switch {
	case f != attachment.CSV || !c.isText:
		return c.sql
	case c.isJSON:
		return `replaceRegexpAll(replaceRegexpAll(` + c.sql + `, ` + quote(`;(`+attachment.Sign+`)`) + `, '\\\\u003b\\1'), ` +
			quote(`\|(`+attachment.Sign+`)`) + `, '\\\\u007c\\1')`
	}
	return `concat(if(position(` + quote(attachment.Blank) + `, substring(` + c.sql +
		`, 1, 1)) > 0, '\'', ''), replaceRegexpAll(` + c.sql + `, ` +
		quote(attachment.Formula) + `, '\\1\'\\2'))`
}

// quote returns a text as a literal of SQL.
func quote(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\t", `\t`, "\r", `\r`, "\n", `\n`).Replace(text) + "'"
}

// threads that the server reads a file with. Writing it takes one.
const threads = 2

// statementOf reads the events of a clause, in the order in which they are stored.
func statementOf(columns []column, clause string, params map[string]string, format attachment.Format) scope.Statement {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = "    " + c.expression(format) + " AS `" + c.name + "`"
	}
	return scope.Statement{
		Name: "export of events", Params: params, Threads: threads,
		// The filter comes first: the columns of the file hide those of the table.
		SQL: "SELECT\n" + strings.Join(list, ",\n") + "\nFROM (SELECT * FROM lodestone.events " + clause + ")",
	}
}
