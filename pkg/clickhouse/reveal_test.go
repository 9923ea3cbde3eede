package clickhouse_test

import (
	"fmt"
	"net"
	"net/url"
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

// movers are settings by which the server evaluates conditions elsewhere or in another order. SQL users can change none of them: the
// users of this test have them by their profiles. Those that would evaluate a condition before PREWHERE are fixed in the profile analyst
// (TestTheProfileFixesWhatMovesPrewhere).
var movers = map[string]string{
	"as_it_is":   "",
	"in_where":   "<optimize_move_to_prewhere>0</optimize_move_to_prewhere><query_plan_optimize_prewhere>0</query_plan_optimize_prewhere>",
	"not_pushed": "<query_plan_filter_push_down>0</query_plan_filter_push_down><enable_optimize_predicate_expression>0</enable_optimize_predicate_expression>",
	"one_step":   "<move_all_conditions_to_prewhere>1</move_all_conditions_to_prewhere><enable_multiple_prewhere_read_steps>0</enable_multiple_prewhere_read_steps>",
}

// moverUsers are users of one account, one for each of the movers.
func moverUsers(t *testing.T, a *analytics) map[string]string {
	t.Helper()
	addresses := map[string]string{}
	for name := range movers {
		u, err := url.Parse(a.all)
		require.NoError(t, err)
		u.User = url.UserPassword("moved_"+name, "of acme")
		addresses[name] = u.String()
	}
	return addresses
}

// A condition that fails on a row says what is in the row, so it must see no row of another account: whatever column of whatever view it
// is on, and wherever the server evaluates it.
func TestNoConditionSeesAnotherAccount(t *testing.T) {
	t.Parallel()
	files := map[string]string{"users.d/unhurried.xml": unhurried}
	var profiles strings.Builder
	for name, settings := range movers {
		fmt.Fprintf(&profiles, "<moved_%s><profile>analyst</profile>%s</moved_%[1]s>", name, settings)
	}
	files["users.d/movers.xml"] = "<clickhouse><profiles>" + profiles.String() + "</profiles></clickhouse>"
	a := newAnalyticsOf(t, func(a *analytics) map[string]string {
		for name := range movers {
			text, err := clickhouse.Analyst{Name: "moved_" + name, Account: a.mine, Password: "of acme"}.File()
			require.NoError(t, err)
			files["users.d/moved_"+name+".xml"] = strings.Replace(text, "<profile>analyst</profile>", "<profile>moved_"+name+"</profile>", 1)
		}
		return files
	})
	// Rows of both accounts are side by side, in the same part and granule.
	for table := range strings.FieldsSeq(a.must(a.own, "SELECT name FROM system.tables WHERE database = 'lodestone' AND engine LIKE '%MergeTree'")) {
		a.must(a.own, "OPTIMIZE TABLE lodestone."+table+" FINAL")
	}
	forms := []string{
		"SELECT count() FROM %s WHERE %s = 1",
		"SELECT count() FROM %s WHERE %s = 1 SETTINGS max_block_size = 1",
		"SELECT * FROM %s WHERE %s = 1 ORDER BY account_id LIMIT 1 FORMAT Null",
		"SELECT account_id, count() FROM %s GROUP BY account_id HAVING max(%s) = 1 FORMAT Null",
	}
	for _, view := range clickhouse.Views() {
		columns := strings.Fields(a.must(a.own, "SELECT name FROM system.columns WHERE database = 'analytics' AND table = '"+view+"'"))
		require.Contains(t, columns, "account_id")
		for name, address := range moverUsers(t, a) {
			for _, column := range columns {
				// The first reveals the row, the second whether there is one.
				conditions := []string{
					fmt.Sprintf("toInt8(if(account_id != toUUID('%s'), concat('revealed ', ifNull(toString(%s), '')), '1'))", a.mine, column),
					fmt.Sprintf("1 + throwIf(account_id = toUUID('%s') AND ifNull(toString(%s), '') != 'x', 'revealed')", a.theirs, column),
				}
				tried := forms
				if name != "as_it_is" {
					conditions, tried = conditions[:1], forms[:1]
				}
				for i, form := range tried {
					sql := fmt.Sprintf(form, view, conditions[i%len(conditions)])
					if _, text := a.ask(address, sql); revealed(text) {
						t.Errorf("%s: %s: %.300s", name, sql, text)
					}
				}
			}
			require.Equal(t, "1", a.must(address, "SELECT count() FROM "+view), "%s of %s", view, name)
		}
	}
	// The condition would have seen the row.
	_, text := a.ask(a.all, fmt.Sprintf("SELECT count() FROM events WHERE toInt8(if(account_id != toUUID('%s'), concat('revealed ', toString(page)), '1')) = 1", a.mine))
	require.True(t, revealed(text), text)
}

// Each of these settings, with the other value, evaluates conditions of a user before the one on the account.
func TestTheProfileFixesWhatMovesPrewhere(t *testing.T) {
	t.Parallel()
	a := newAnalytics(t, nil)
	for setting, value := range map[string]string{"enable_analyzer": "1", "optimize_prewhere_after_pushdown": "0", "analyzer_inline_views": "0", "apply_prewhere_after_final": "0"} {
		require.Equal(t, value, a.must(a.scoped, "SELECT toUInt8(getSetting('"+setting+"'))"), setting)
		status, text := a.ask(a.scoped, "SELECT 1 SETTINGS "+setting+" = "+map[string]string{"0": "1", "1": "0"}[value])
		require.True(t, refused(status, text, nil), text)
	}
}

// revealed reports whether an error has what a condition revealed of a row, and not only the text of the condition.
func revealed(text string) bool {
	return strings.Contains(text, "Cannot parse string 'revealed") || strings.Contains(text, "DB::Exception: revealed")
}

// The plan reads what the index finds of the account: a tenth of the rows of others in this test would be more than it estimates.
func TestPlansReadTheRowsOfTheAccount(t *testing.T) {
	t.Parallel()
	a := newAnalytics(t, nil)
	a.must(a.own, fmt.Sprintf("INSERT INTO lodestone.events (account_id, event_id, event_type, created_at) SELECT '%s', generateUUIDv4(), 'page_viewed', toDateTime64('2026-03-01 00:00:00', 3, 'UTC') + number FROM numbers(50000)", a.theirs))
	for _, view := range []string{"events", "sessions", "readers", "pages"} {
		rows := 0
		for line := range strings.Lines(a.must(a.scoped, "EXPLAIN ESTIMATE SELECT * FROM "+view)) {
			n, err := strconv.Atoi(strings.Split(line, "\t")[3])
			require.NoError(t, err)
			rows += n
		}
		require.Less(t, rows, 5000, view)
	}
}

// The place in the log counts the events of all accounts: only users of all accounts see it.
func TestPlacesInTheLogAreOfAllAccounts(t *testing.T) {
	t.Parallel()
	a := newAnalytics(t, nil)
	a.must(a.own, fmt.Sprintf("INSERT INTO lodestone.events (account_id, event_type, kafka_topic_id, kafka_partition, kafka_offset) VALUES ('%s', 'download_completed', '%[1]s', 7, 77)", a.mine))
	const sql = "SELECT kafka_topic_id, kafka_partition, kafka_offset FROM events WHERE event_type = 'download_completed' FORMAT CSV"
	require.Equal(t, `"`+a.mine.String()+`",7,77`, a.must(a.all, sql))
	require.Equal(t, `"00000000-0000-0000-0000-000000000000",0,0`, a.must(a.scoped, sql))
	require.Equal(t, "0", a.must(a.scoped, "SELECT count() FROM events WHERE kafka_offset > 0 OR kafka_partition > 0"))
	require.Equal(t, "1", a.must(a.scoped, "SELECT count() FROM events WHERE kafka_offset = 0 AND event_type = 'download_completed'"))
}

// A user may have several accounts, by a policy that names them.
func TestAUserOfSeveralAccounts(t *testing.T) {
	t.Parallel()
	a := newAnalyticsOf(t, func(a *analytics) map[string]string {
		text, err := clickhouse.Analyst{Name: "both", Account: a.mine, Password: "of acme"}.File()
		require.NoError(t, err)
		text = strings.ReplaceAll(text, fmt.Sprintf("account_id = toUUID('%s')", a.mine), fmt.Sprintf("account_id IN ('%s', '%s')", a.mine, a.theirs))
		return map[string]string{"users.d/both.xml": text}
	})
	third := a.theirs
	third[0] ^= 1
	a.must(a.own, fmt.Sprintf("INSERT INTO lodestone.events (account_id, event_type) VALUES ('%s', 'page_viewed')", third))
	u, err := url.Parse(a.all)
	require.NoError(t, err)
	u.User = url.UserPassword("both", "of acme")
	require.Equal(t, "2", a.must(u.String(), "SELECT uniqExact(account_id) FROM events"))
	require.Equal(t, "3", a.must(a.all, "SELECT uniqExact(account_id) FROM events"))
	require.Equal(t, "1", a.must(a.scoped, "SELECT uniqExact(account_id) FROM events"))
}

// A client of the native protocol says by itself for whom it asks. The accounts are those of the user who logged in.
func TestAClientForgesNoUser(t *testing.T) {
	t.Parallel()
	a := newAnalytics(t, nil)
	const version = 54449 // a client after which the protocol has no further steps
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", a.native)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	require.NoError(t, conn.SetDeadline(time.Now().Add(testTimeout)))
	var b proto.Buffer
	proto.ClientHello{Name: "forger", Major: 1, Minor: 1, ProtocolVersion: version, Database: "analytics", User: "analyst_acme", Password: "of acme"}.Encode(&b)
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
	a.must(a.own, fmt.Sprintf("INSERT INTO lodestone.events (account_id, event_type, kafka_offset) VALUES ('%s', 'page_viewed', 5)", a.mine))
	_, err = conn.Write(b.Buf)
	require.NoError(t, err)
	var answer strings.Builder
	for chunk := make([]byte, 4096); !strings.Contains(answer.String(), "DB::Exception"); {
		n, err := conn.Read(chunk)
		require.NoError(t, err, answer.String())
		answer.Write(chunk[:n])
	}
	require.Contains(t, answer.String(), fmt.Sprintf("user lodestone, account %s, offset 0", a.mine), "the name is forged, the account is not")
}
