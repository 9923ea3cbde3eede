package clickhouse_test

import (
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
)

// unhurried gives the analyst as many queries as a test needs.
const unhurried = `<clickhouse>
  <profiles><analyst><os_thread_priority>0</os_thread_priority></analyst></profiles>
  <quotas><analyst replace="replace"><interval><duration>60</duration><queries>1000000</queries></interval></analyst></quotas>
</clickhouse>`

// movers are settings by which the server evaluates conditions elsewhere or in another order. SQL
// users can change none of them: the users of this test have them by their profiles. Those that
// would evaluate a condition before PREWHERE are fixed in the profile analyst
// (TestTheProfileFixesWhatMovesPrewhere).
var movers = map[string]string{
	"as_it_is":   "",
	"in_where":   "<optimize_move_to_prewhere>0</optimize_move_to_prewhere><query_plan_optimize_prewhere>0</query_plan_optimize_prewhere>",
	"not_pushed": "<query_plan_filter_push_down>0</query_plan_filter_push_down><enable_optimize_predicate_expression>0</enable_optimize_predicate_expression>",
	"one_step":   "<move_all_conditions_to_prewhere>1</move_all_conditions_to_prewhere><enable_multiple_prewhere_read_steps>0</enable_multiple_prewhere_read_steps>",
}

// moverFiles configure a user of the first account of a for each of the movers.
func moverFiles(t *testing.T, a *analytics) map[string]string {
	t.Helper()
	files := map[string]string{}
	var profiles strings.Builder
	for name, settings := range movers {
		fmt.Fprintf(&profiles, "<moved_%s><profile>analyst</profile>%s</moved_%[1]s>", name, settings)
		files["users.d/moved_"+name+".xml"] = strings.Replace(a.user(t, "moved_"+name), "<profile>analyst</profile>",
			"<profile>moved_"+name+"</profile>", 1)
	}
	files["users.d/movers.xml"] = "<clickhouse><profiles>" + profiles.String() + "</profiles></clickhouse>"
	return files
}

// revealing is a form of statement whose condition reveals rows.
type revealing struct {
	statement string // has the view and the conditions
	condition string // has one of them
	says      bool   // the condition reveals the row, else whether there is one
}

var revealingForms = []revealing{
	{"SELECT count() FROM %s WHERE %s", "%s = 1", true},
	{"SELECT count() FROM %s WHERE %s SETTINGS max_block_size = 1", "%s = 1", false},
	{"SELECT * FROM %s WHERE %s ORDER BY account_id LIMIT 1 FORMAT Null", "%s = 1", true},
	{"SELECT account_id, count() FROM %s GROUP BY account_id HAVING %s FORMAT Null", "max(%s) = 1", false},
}

// reveals tries a statement with conditions on columns of a view. The server may move any of them.
func (a *analytics) reveals(user string, form revealing, view string, columns ...string) {
	a.t.Helper()
	conditions := make([]string, len(columns))
	for i, column := range columns {
		condition := fmt.Sprintf("toInt8(if(account_id != toUUID('%s'), concat('revealed ', ifNull(toString(%s), '')), '1'))",
			a.mine, column)
		if !form.says {
			condition = fmt.Sprintf("1 + throwIf(account_id = toUUID('%s') AND ifNull(toString(%s), '') != 'x', 'revealed')",
				a.theirs, column)
		}
		conditions[i] = fmt.Sprintf(form.condition, condition)
	}
	sql := fmt.Sprintf(form.statement, view, strings.Join(conditions, " AND "))
	if _, text := a.ask(a.as(user, "of acme"), sql); revealed(text) {
		a.t.Errorf("%s: %s: %.300s", user, sql, text)
	}
}

// shareMoved has the users of the movers, and rows of both accounts side by side, in the same part
// and granule.
func shareMoved(t *testing.T) *analytics {
	t.Helper()
	a := shareAnalyticsOf(t, ofMovers)
	for table := range strings.FieldsSeq(a.must(a.own,
		"SELECT name FROM system.tables WHERE database = 'lodestone' AND engine LIKE '%MergeTree'")) {
		a.must(a.own, "OPTIMIZE TABLE lodestone."+table+" FINAL")
	}
	// The condition would see the row, were it asked first.
	_, text := a.ask(a.all,
		fmt.Sprintf("SELECT count() FROM events WHERE toInt8(if(account_id != toUUID('%s'), concat('revealed ', toString(page)), '1')) = 1", a.mine))
	require.True(t, revealed(text), text)
	return a
}

func (a *analytics) columns(view string) []string {
	a.t.Helper()
	columns := strings.Fields(a.must(a.own,
		"SELECT name FROM system.columns WHERE database = 'analytics' AND table = '"+view+"'"))
	require.Contains(a.t, columns, "account_id")
	return columns
}

// A condition that fails on a row says what is in the row, so it must see no row of another
// account: whatever column of whatever view it is on, and wherever the server evaluates it.
// TestNoConditionOnAnyColumnSeesAnotherAccount tries each column by itself.
func TestNoConditionSeesAnotherAccount(t *testing.T) {
	t.Parallel()
	a := shareMoved(t)
	for _, view := range clickhouse.Views() {
		columns := a.columns(view)
		for name := range movers {
			for _, form := range revealingForms {
				if form == revealingForms[0] || name == "as_it_is" {
					a.reveals("moved_"+name, form, view, columns...)
				}
			}
			require.Equal(t, "1", a.must(a.as("moved_"+name, "of acme"), "SELECT count() FROM "+view), "%s of %s", view, name)
		}
		for i := 0; i < len(columns); i += 3 {
			a.reveals("moved_as_it_is", revealingForms[0], view, columns[i])
		}
	}
}

// Settings of the profile keep conditions of a user behind PREWHERE, and the views have the account
// there wherever they read a table: either by itself keeps rows of others from the conditions
// above.
func TestViewsReadRowsOfTheAccount(t *testing.T) {
	t.Parallel()
	a := shareAnalytics(t)
	reads := regexp.MustCompile(`(?:FROM|JOIN) lodestone\.(\w+)(?: AS \w+)?(?: FINAL)?(.{0,60})`)
	for _, view := range clickhouse.Views() {
		found := 0
		for _, read := range reads.FindAllStringSubmatch(a.must(a.own,
			"SELECT create_table_query FROM system.tables WHERE database = 'analytics' AND name = '"+view+"' FORMAT TSVRaw"),
			-1) {
			if read[1] != "sql_accounts" {
				found++
				require.True(t, strings.HasPrefix(read[2], " PREWHERE empty(accounts) OR has(accounts, account_id)"), "%s: %s",
					view, read[0])
			}
		}
		require.NotZero(t, found, view)
	}
}

// Each of these settings, with the other value, evaluates conditions of a user before the one on
// the account.
func TestTheProfileFixesWhatMovesPrewhere(t *testing.T) {
	t.Parallel()
	a := shareAnalytics(t)
	for setting, value := range map[string]string{"enable_analyzer": "1", "optimize_prewhere_after_pushdown": "0",
		"analyzer_inline_views": "0", "apply_prewhere_after_final": "0"} {
		require.Equal(t, value, a.must(a.scoped, "SELECT toUInt8(getSetting('"+setting+"'))"), setting)
		status, text := a.ask(a.scoped, "SELECT 1 SETTINGS "+setting+" = "+map[string]string{"0": "1", "1": "0"}[value])
		require.True(t, refused(status, text, nil), text)
	}
}

// revealed reports whether an error has what a condition revealed of a row, and not only the text
// of the condition.
func revealed(text string) bool {
	return strings.Contains(text, "Cannot parse string 'revealed") || strings.Contains(text, "DB::Exception: revealed")
}

// A plan says how many rows it reads: those of the account and, in a granule of its first and last
// row, of accounts beside it. A tenth of the rows of others in this test would be more.
func TestPlansReadTheRowsOfTheAccount(t *testing.T) {
	t.Parallel()
	a := shareAnalytics(t)
	for _, rows := range []string{
		"events (account_id, event_id, event_type, created_at) SELECT '%s', generateUUIDv4(), 'page_viewed', toDateTime64('2026-03-01 00:00:00', 3, 'UTC') + number",
		"link_views (account_id, generic_link_id, event_id, created_at) SELECT '%s', generateUUIDv4(), toUUID('%[1]s'), toDateTime64('2026-03-01 00:00:00', 3, 'UTC')",
		"lead_magnets (account_id, id, version) SELECT '%s', generateUUIDv4(), 1",
		"generic_links (account_id, id, version) SELECT '%s', generateUUIDv4(), 1",
		"access_links (account_id, id, version) SELECT '%s', generateUUIDv4(), 1",
		"submissions (account_id, id, version) SELECT '%s', generateUUIDv4(), 1",
		"magnet_versions (account_id, lead_magnet_id, version) SELECT '%s', generateUUIDv4(), 1",
		"suspects (account_id, id, version) SELECT '%s', generateUUIDv4(), 1",
	} {
		a.must(a.own, fmt.Sprintf("INSERT INTO lodestone."+rows+" FROM numbers(50000)", a.theirs))
	}
	for _, view := range clickhouse.Views() {
		most := 5000
		if view == "lead_magnets" || view == "generic_links" { // the tables that are read in granules of 128 rows
			most = 1000
		}
		rows := 0
		for line := range strings.Lines(a.must(a.scoped, "EXPLAIN ESTIMATE SELECT * FROM "+view)) {
			n, err := strconv.Atoi(strings.Split(line, "\t")[3])
			require.NoError(t, err)
			rows += n
		}
		require.Less(t, rows, most, view)
	}
}

// The place in the log counts the events of all accounts: only users of all accounts see it.
func TestPlacesInTheLogAreOfAllAccounts(t *testing.T) {
	t.Parallel()
	a := shareAnalytics(t)
	a.must(a.own, fmt.Sprintf(
		"INSERT INTO lodestone.events (account_id, event_type, kafka_topic_id, kafka_partition, kafka_offset) VALUES ('%s', 'download_completed', '%[1]s', 7, 77)", a.mine))
	const sql = "SELECT kafka_topic_id, kafka_partition, kafka_offset FROM events WHERE event_type = 'download_completed'"
	require.Equal(t, `"`+a.mine.String()+`",7,77`, a.must(a.all, sql+" AND account_id = '"+a.mine.String()+"' FORMAT CSV"))
	require.Equal(t, `"00000000-0000-0000-0000-000000000000",0,0`, a.must(a.scoped, sql+" FORMAT CSV"))
	require.Equal(t, "0", a.must(a.scoped, "SELECT count() FROM events WHERE kafka_offset > 0 OR kafka_partition > 0"))
	require.Equal(t, "1",
		a.must(a.scoped, "SELECT count() FROM events WHERE kafka_offset = 0 AND event_type = 'download_completed'"))
}

// A user may have several accounts, by a policy that names them.
func TestAUserOfSeveralAccounts(t *testing.T) {
	t.Parallel()
	a := shareAnalyticsOf(t, ofBoth)
	third := a.theirs
	third[0] ^= 1
	a.must(a.own, fmt.Sprintf("INSERT INTO lodestone.events (account_id, event_type) VALUES ('%s', 'page_viewed')", third))
	require.Equal(t, "2", a.must(a.as("both", "of acme"), "SELECT uniqExact(account_id) FROM events"))
	require.Equal(t, "3",
		a.must(a.all, fmt.Sprintf("SELECT uniqExact(account_id) FROM events WHERE account_id IN ('%s', '%s', '%s')", a.mine,
			a.theirs, third)))
	require.Equal(t, "1", a.must(a.scoped, "SELECT uniqExact(account_id) FROM events"))
}

// A client of the native protocol names the user of a query itself. The accounts are those of the
// authenticated user.
func TestAClientForgesNoUser(t *testing.T) {
	t.Parallel()
	a := shareAnalytics(t)
	const version = 54449 // a client after which the protocol has no further steps
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", a.native)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	require.NoError(t, conn.SetDeadline(time.Now().Add(testTimeout)))
	var b proto.Buffer
	proto.ClientHello{Name: "forger", Major: 1, Minor: 1, ProtocolVersion: version, Database: "analytics", User: a.name,
		Password: "of acme"}.Encode(&b)
	_, err = conn.Write(b.Buf)
	require.NoError(t, err)
	greeting := make([]byte, 4096)
	_, err = conn.Read(greeting)
	require.NoError(t, err)
	require.Equal(t, byte(proto.ServerCodeHello), greeting[0])

	b.Reset()
	proto.Query{
		Body:  "SELECT toInt8(concat('user ', currentUser(), ', account ', toString(account_id), ', offset ', toString(kafka_offset))) FROM events",
		Stage: proto.StageComplete,
		Info: proto.ClientInfo{
			ProtocolVersion: version, Major: 1, Minor: 1, Interface: proto.InterfaceTCP, Query: proto.ClientQuerySecondary,
			InitialUser: "lodestone", InitialAddress: "127.0.0.1:1", ClientName: "forger",
		},
	}.EncodeAware(&b, version)
	proto.ClientCodeData.Encode(&b)
	proto.ClientData{}.EncodeAware(&b, version)
	require.NoError(t, proto.Block{}.EncodeBlock(&b, version, nil))
	a.must(a.own, fmt.Sprintf(
		"INSERT INTO lodestone.events (account_id, event_type, kafka_offset) VALUES ('%s', 'page_viewed', 5)", a.mine))
	_, err = conn.Write(b.Buf)
	require.NoError(t, err)
	var answer strings.Builder
	for chunk := make([]byte, 4096); !strings.Contains(answer.String(), "DB::Exception"); {
		n, err := conn.Read(chunk)
		require.NoError(t, err, answer.String())
		answer.Write(chunk[:n])
	}
	require.Contains(t, answer.String(), fmt.Sprintf("user lodestone, account %s, offset 0", a.mine),
		"the name is forged, the account is not")
}
