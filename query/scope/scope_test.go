package scope_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
	"lodestone/pkg/test/enginetest"
	"lodestone/query/querytest"
	"lodestone/query/scope"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// storeTwoAccounts stores three events of one account and five of another, and a link view of each.
func storeTwoAccounts(t *testing.T) (three, five uuid.UUID) {
	t.Helper()
	conn := querytest.Conn(t)
	three, five = querytest.ID(t), querytest.ID(t)
	topic := querytest.ID(t)
	for account, n := range map[uuid.UUID]int{three: 3, five: 5} {
		var events []querytest.StoredEvent
		for i := range n {
			events = append(events, querytest.StoredEvent{
				Event: event.Event{
					AccountID: account, LeadMagnetID: querytest.ID(t), AccessLinkID: querytest.ID(t), EventID: querytest.ID(t),
					Type: event.PageViewed, CreatedAt: time.Now().UnixMilli(), ReceivedAt: time.Now().UnixMilli(),
				},
				TopicID: topic, Partition: int32(n), Offset: int64(i),
			})
		}
		querytest.Store(t, conn, events...)
		require.NoError(t, conn.Exec(context.Background(),
			fmt.Sprintf("INSERT INTO lodestone.link_views (account_id, created_at) VALUES ('%s', now())", account)))
	}
	return three, five
}

func count(t *testing.T, ch *scope.ClickHouse, account uuid.UUID, sql string) uint64 {
	t.Helper()
	var n uint64
	err := ch.Query(context.Background(), account, scope.Statement{Name: "test", SQL: sql},
		func(row scope.Row) error { return row.Scan(&n) })
	require.NoError(t, err, sql)
	return n
}

// forgetful statements do not compare the account, or try to see another one's rows.
var forgetful = []string{
	"SELECT count() FROM lodestone.events",
	"SELECT count() FROM events",
	"SELECT count() FROM lodestone.events AS e",
	"SELECT count() FROM analytics.events",
	"SELECT count() FROM analytics.events AS e WHERE e.kafka_offset >= 0",
	"SELECT count() FROM (SELECT * FROM lodestone.events)",
	"WITH x AS (SELECT account_id FROM analytics.events) SELECT count() FROM x",
	"SELECT count() FROM view(SELECT * FROM lodestone.events)",
	"SELECT count() FROM lodestone.events WHERE 1 OR account_id != {account:UUID}",
	"SELECT count() FROM lodestone.events WHERE event_id IN (SELECT event_id FROM lodestone.events)",
	"SELECT count() FROM lodestone.events AS a INNER JOIN analytics.events AS b ON a.event_id = b.event_id",
	"SELECT toUInt64(sum(n)) FROM (SELECT count() AS n FROM lodestone.events UNION ALL SELECT 0)",
	"SELECT count() FROM lodestone.events WHERE created_at >= '2000-01-01'",
	"SELECT count() FROM lodestone.events GROUP BY account_id",
	"SELECT sum(n) FROM (SELECT count() AS n FROM lodestone.events GROUP BY account_id, access_link_id, lead_magnet_id, event_type)",
}

func TestStatementThatForgetsTheAccountSeesNothingOfOthers(t *testing.T) {
	t.Parallel()
	three, five := storeTwoAccounts(t)
	ch := querytest.Scoped(t)
	for _, sql := range forgetful {
		require.EqualValues(t, 3, count(t, ch, three, sql), sql)
		require.EqualValues(t, 5, count(t, ch, five, sql), sql)
		require.Zero(t, count(t, ch, querytest.ID(t), sql), sql)
	}
	require.EqualValues(t, 1, count(t, ch, three, "SELECT count() FROM lodestone.link_views"))
	require.Zero(t, count(t, ch, three, fmt.Sprintf("SELECT count() FROM lodestone.events WHERE account_id = '%s'", five)))
}

// escaping statements are refused.
var escaping = []string{
	"SELECT count() FROM lodestone.events SETTINGS additional_table_filters = {}",
	"SELECT count() FROM (SELECT * FROM lodestone.events SETTINGS additional_table_filters = {})",
	"SELECT count() FROM merge('lodestone', '^events$')",
	"SELECT count() FROM mergeTreeProjection(lodestone, events, sessions)",
	"SELECT count() FROM remote('127.0.0.1', lodestone.events)",
	"SELECT count() FROM loop(lodestone, events)",
	"SELECT query FROM system.processes",
	"SELECT count() FROM file('x.csv')",
	"INSERT INTO lodestone.events (account_id) SELECT generateUUIDv4()",
	"DROP TABLE lodestone.events",
	"SET additional_table_filters = {}",
}

func TestStatementCannotLeaveItsAccount(t *testing.T) {
	t.Parallel()
	storeTwoAccounts(t)
	ch := querytest.Scoped(t)
	for _, sql := range escaping {
		err := ch.Query(context.Background(), querytest.ID(t), scope.Statement{Name: "test", SQL: sql},
			func(scope.Row) error { return nil })
		require.Error(t, err, sql)
	}
}

func TestStatementCannotChooseItsAccount(t *testing.T) {
	t.Parallel()
	three, five := storeTwoAccounts(t)
	var n uint64
	err := querytest.Scoped(t).Query(context.Background(), three, scope.Statement{
		Name:   "test",
		SQL:    "SELECT count() FROM lodestone.events WHERE account_id = {account:UUID}",
		Params: map[string]string{"account": five.String()},
	}, func(row scope.Row) error { return row.Scan(&n) })
	require.NoError(t, err)
	require.EqualValues(t, 3, n)
}

func TestNoAccount(t *testing.T) {
	t.Parallel()
	err := querytest.Scoped(t).Query(context.Background(), uuid.Nil, scope.Statement{SQL: "SELECT 1"},
		func(scope.Row) error { return nil })
	require.ErrorContains(t, err, "no account")
}

// Every table with rows of accounts is confined, also one that is added later: each is given a row
// of two accounts, which each see theirs only, below a view as well.
func TestEveryTableOfAccountsIsConfined(t *testing.T) {
	t.Parallel()
	ctx, conn := context.Background(), querytest.Conn(t)
	rows, err := conn.Query(ctx, `SELECT database, table, max(name = 'id'), max(engine = 'View')
		FROM system.columns INNER JOIN system.tables ON system.tables.database = system.columns.database AND system.tables.name = system.columns.table
		WHERE database IN ('lodestone', 'analytics') GROUP BY database, table HAVING max(name = 'account_id')`)
	require.NoError(t, err)
	type table struct {
		name   string
		hasID  bool
		isView bool
	}
	var tables []table
	for rows.Next() {
		var database, name string
		var hasID, isView uint8
		require.NoError(t, rows.Scan(&database, &name, &hasID, &isView))
		tables = append(tables, table{database + "." + name, hasID == 1, isView == 1})
	}
	require.NoError(t, rows.Err())
	require.NoError(t, rows.Close())
	one, two, ch := querytest.ID(t), querytest.ID(t), querytest.Scoped(t)
	for _, table := range tables {
		if table.isView {
			continue
		}
		for _, account := range []uuid.UUID{one, two} {
			row := fmt.Sprintf("(account_id) VALUES ('%s')", account)
			switch {
			case table.name == "lodestone.events": // the views of what was read show pages
				row = fmt.Sprintf("(account_id, page) VALUES ('%s', 1)", account)
			case table.hasID:
				row = fmt.Sprintf("(account_id, id) VALUES ('%s', '%s')", account, querytest.ID(t))
			}
			require.NoError(t, conn.Exec(ctx, "INSERT INTO "+table.name+" "+row))
		}
	}
	require.Greater(t, len(tables), 10)
	for _, table := range tables {
		for account, want := range map[uuid.UUID]uint64{one: 1, two: 1, querytest.ID(t): 0} {
			require.Equal(t, want, count(t, ch, account, "SELECT count() FROM "+table.name),
				"%s must be among the tables of package scope", table.name)
		}
	}
}

// A copy that was removed is seen by no one: the mark of its removal must not be left out before it
// hides the copy.
func TestRemovedCopiesAreGone(t *testing.T) {
	t.Parallel()
	ctx, conn, account, ch := context.Background(), querytest.Conn(t), querytest.ID(t), querytest.Scoped(t)
	id := querytest.ID(t)
	require.NoError(t, conn.Exec(ctx,
		fmt.Sprintf("INSERT INTO lodestone.lead_magnets (id, account_id, version) VALUES ('%s', '%s', 1)", id, account)))
	require.EqualValues(t, 1, count(t, ch, account, "SELECT count() FROM lodestone.lead_magnets FINAL"))
	require.NoError(t, conn.Exec(ctx,
		fmt.Sprintf("INSERT INTO lodestone.lead_magnets (account_id, id, version, deleted) VALUES ('%s', '%s', 2, 1)",
			account, id)))
	for _, sql := range []string{"SELECT count() FROM lodestone.lead_magnets FINAL",
		"SELECT count() FROM analytics.lead_magnets"} {
		require.Zero(t, count(t, ch, account, sql), sql)
		require.Zero(t, count(t, ch, account, sql+" WHERE account_id = {account:UUID}"), sql)
	}
}

// FuzzText passes any text, and lists of it, to the server and back.
func FuzzText(f *testing.F) {
	for _, text := range []string{"", "it's", `\`, `\'`, "'] OR 1 -- ", "\t\n\r\x00\b\f", "\xff\xfe",
		"{account:UUID}", `\N`, "NULL", "ü–😀"} {
		f.Add(text)
	}
	ch, account := querytest.Scoped(f), querytest.ID(f)
	f.Fuzz(func(t *testing.T, text string) {
		var back string
		var list []string
		require.NoError(t, ch.Query(t.Context(), account, scope.Statement{
			Name: "test", SQL: "SELECT {text:String}, {texts:Array(String)}",
			Params: map[string]string{"text": clickhouse.Text(text),
				"texts": clickhouse.Texts([]string{text, "b", text + text})},
		}, func(row scope.Row) error { return row.Scan(&back, &list) }))
		require.Equal(t, text, back)
		require.Equal(t, []string{text, "b", text + text}, list)
	})
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	limits := querytest.Limits()
	limits.Timeout = 300 * time.Millisecond
	ch, err := scope.Open(enginetest.MigratedClickHouse(t), limits)
	require.NoError(t, err)
	err = ch.Query(context.Background(), querytest.ID(t),
		scope.Statement{Name: "slow", SQL: "SELECT sum(sleepEachRow(1)) FROM numbers(3)"},
		func(scope.Row) error { return nil })
	require.Error(t, err)
	require.True(t, scope.IsUnavailable(err), "%v", err)
	require.NoError(t, ch.Close())
}

func TestMemoryLimit(t *testing.T) {
	t.Parallel()
	limits := querytest.Limits()
	limits.MemoryBytes = 16 << 20
	ch, err := scope.Open(enginetest.MigratedClickHouse(t), limits)
	require.NoError(t, err)
	err = ch.Query(context.Background(), querytest.ID(t),
		scope.Statement{Name: "large", SQL: "SELECT length(groupArray(number)) FROM numbers(100000000)"},
		func(scope.Row) error { return nil })
	require.Error(t, err)
	require.True(t, scope.IsUnavailable(err), "%v", err)
	require.NoError(t, ch.Close())
}

// While ClickHouse is away queries say so; when it is back they go through at once, although the
// pool is full of dead connections.
func TestServerGoneAndBack(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir := enginetest.Dir(t)
	server := enginetest.NewClickHouse(t, dir)
	require.NoError(t, server.Start(ctx))
	c := clickhouse.Config{URL: server.URL()}
	_, err := clickhouse.Migrate(ctx, c)
	require.NoError(t, err)
	ch, err := scope.Open(c, querytest.Limits())
	require.NoError(t, err)
	defer func() { require.NoError(t, ch.Close()) }()
	require.NoError(t, ch.Ping(ctx))
	all := func() error {
		var group errgroup.Group
		for range querytest.Limits().MaxConns {
			group.Go(func() error {
				return ch.Query(ctx, uuid.New(), scope.Statement{Name: "test", SQL: "SELECT sleep(0.2)"},
					func(scope.Row) error { return nil })
			})
		}
		return group.Wait()
	}
	require.NoError(t, all())

	require.NoError(t, server.Stop(ctx))
	server = enginetest.NewClickHouse(t, dir)
	require.NoError(t, server.Start(ctx))
	require.Equal(t, c.URL, server.URL())
	require.NoError(t, all())

	require.NoError(t, server.Stop(ctx))
	err = ch.Query(ctx, querytest.ID(t), scope.Statement{Name: "test", SQL: "SELECT 1"},
		func(scope.Row) error { return nil })
	require.Error(t, err)
	require.True(t, scope.IsUnavailable(err), "%v", err)
	require.Error(t, ch.Ping(ctx))
}
