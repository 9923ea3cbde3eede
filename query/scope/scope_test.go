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
	"lodestone/pkg/engine/enginetest"
	"lodestone/pkg/event"
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
		var events []querytest.Stored
		for i := range n {
			events = append(events, querytest.Stored{
				Event: event.Event{
					AccountID: account, LeadMagnetID: querytest.ID(t), AccessLinkID: querytest.ID(t), EventID: querytest.ID(t),
					Type: event.PageViewed, CreatedAt: time.Now().UnixMilli(), ReceivedAt: time.Now().UnixMilli(),
				},
				TopicID: topic, Partition: int32(n), Offset: int64(i),
			})
		}
		querytest.Store(t, conn, events...)
		require.NoError(t, conn.Exec(context.Background(), fmt.Sprintf("INSERT INTO lodestone.link_views (account_id, created_at) VALUES ('%s', now())", account)))
	}
	return three, five
}

func count(t *testing.T, ch *scope.ClickHouse, account uuid.UUID, sql string) uint64 {
	t.Helper()
	var n uint64
	err := ch.Query(context.Background(), account, scope.Statement{Name: "test", SQL: sql}, func(row scope.Row) error { return row.Scan(&n) })
	require.NoError(t, err, sql)
	return n
}

func TestStatementThatForgetsTheAccountSeesNothingOfOthers(t *testing.T) {
	t.Parallel()
	three, five := storeTwoAccounts(t)
	ch := querytest.Scoped(t)
	for _, sql := range []string{
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
	} {
		require.EqualValues(t, 3, count(t, ch, three, sql), sql)
		require.EqualValues(t, 5, count(t, ch, five, sql), sql)
		require.Zero(t, count(t, ch, querytest.ID(t), sql), sql)
	}
	require.EqualValues(t, 1, count(t, ch, three, "SELECT count() FROM lodestone.link_views"))
	require.Zero(t, count(t, ch, three, fmt.Sprintf("SELECT count() FROM lodestone.events WHERE account_id = '%s'", five)))
}

func TestStatementCannotLeaveItsAccount(t *testing.T) {
	t.Parallel()
	storeTwoAccounts(t)
	ch := querytest.Scoped(t)
	for _, sql := range []string{
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
	} {
		err := ch.Query(context.Background(), querytest.ID(t), scope.Statement{Name: "test", SQL: sql}, func(scope.Row) error { return nil })
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
	err := querytest.Scoped(t).Query(context.Background(), uuid.Nil, scope.Statement{SQL: "SELECT 1"}, func(scope.Row) error { return nil })
	require.ErrorContains(t, err, "no account")
}

// Every table with rows of accounts is confined, also one that is added later.
func TestEveryTableOfAccountsIsConfined(t *testing.T) {
	t.Parallel()
	conn := querytest.Conn(t)
	account := querytest.ID(t)
	rows, err := conn.Query(context.Background(), `SELECT DISTINCT database, table FROM system.columns
		WHERE database IN ('lodestone', 'analytics') AND name = 'account_id'`)
	require.NoError(t, err)
	var names []string
	for rows.Next() {
		var database, table string
		require.NoError(t, rows.Scan(&database, &table))
		names = append(names, database+"."+table)
	}
	require.NoError(t, rows.Err())
	require.NoError(t, rows.Close())
	require.Contains(t, names, "lodestone.events")
	storeTwoAccounts(t)
	for _, name := range names {
		require.Zero(t, count(t, querytest.Scoped(t), account, "SELECT count() FROM "+name), "%s must be among the tables of package scope", name)
	}
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	limits := querytest.Limits()
	limits.Timeout = 300 * time.Millisecond
	ch, err := scope.Open(enginetest.MigratedClickHouse(t), limits)
	require.NoError(t, err)
	err = ch.Query(context.Background(), querytest.ID(t), scope.Statement{Name: "slow", SQL: "SELECT sum(sleepEachRow(1)) FROM numbers(3)"}, func(scope.Row) error { return nil })
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
	err = ch.Query(context.Background(), querytest.ID(t), scope.Statement{Name: "large", SQL: "SELECT length(groupArray(number)) FROM numbers(100000000)"}, func(scope.Row) error { return nil })
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
				return ch.Query(ctx, uuid.New(), scope.Statement{Name: "test", SQL: "SELECT sleep(0.2)"}, func(scope.Row) error { return nil })
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
	err = ch.Query(ctx, querytest.ID(t), scope.Statement{Name: "test", SQL: "SELECT 1"}, func(scope.Row) error { return nil })
	require.Error(t, err)
	require.True(t, scope.IsUnavailable(err), "%v", err)
	require.Error(t, ch.Ping(ctx))
}
