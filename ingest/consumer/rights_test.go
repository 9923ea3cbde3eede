package consumer

import (
	"net/url"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/test/enginetest"
)

// A consumer with a wrong password, or without the right to insert, would take partitions from
// those that can write.
func TestAConsumerThatMayNotWriteDoesNotJoin(t *testing.T) {
	t.Parallel()
	reader, err := url.Parse(enginetest.Server(t).SQLURL())
	require.NoError(t, err)
	password, _ := reader.User.Password()
	for name, user := range map[string]*url.Userinfo{
		"wrong password": url.UserPassword("lodestone", "wrong"),
		// The user of SQL reads views, and inserts nowhere.
		"no right to insert": url.UserPassword(reader.User.Username(), password),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, 2)
			metrics := prometheus.NewRegistry()
			address, err := url.Parse(r.ClickHouse.URL)
			require.NoError(t, err)
			address.User = user
			c, err := New(r.steady(), Deps{
				Kafka: r.Kafka, ClickHouse: clickhouse.Config{URL: address.String()}, Postgres: r.Postgres,
				Log: testLog(), Registerer: metrics,
			})
			require.NoError(t, err)
			require.Eventually(t, func() bool { // a probe that takes seconds ends with another error
				return clickhouse.IsForbidden(c.probe(t.Context()))
			}, waitLimit, 20*time.Millisecond)
			r.start(c)
			r.consume(r.steady())
			for partition := range int32(2) {
				r.produce(partition, r.events(100)...)
				r.awaitCommit(partition, 100)
			}
			r.requireStored(200)
			require.Equal(t, 1, r.members())
			require.Zero(t, gauge(t, metrics, "lodestone_consumer_joined"))
			require.Error(t, c.Check(t.Context()))
		})
	}
}

// Who starts without the schema joins once it is there. Whose inserts are refused, though it can
// read, leaves its partitions to others, and comes back.
func TestAConsumerWhoseInsertsAreRefusedLeavesItsGroup(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	server := enginetest.NewMigratedClickHouse(t, t.TempDir()) // its own: no other test could insert
	enginetest.Run(t, server)
	r.ClickHouse = clickhouse.Config{URL: server.URL()}
	_, err := clickhouse.Migrate(t.Context(), r.ClickHouse)
	require.NoError(t, err)
	const takeAway, bringBack = "RENAME TABLE lodestone.events TO lodestone.events_away",
		"RENAME TABLE lodestone.events_away TO lodestone.events"
	r.exec(takeAway)
	c, err := New(r.steady(), Deps{Kafka: r.Kafka, ClickHouse: r.ClickHouse, Postgres: r.Postgres, Log: testLog(),
		Registerer: prometheus.NewRegistry()})
	require.NoError(t, err)
	c.leaveAfter = 100 * time.Millisecond
	require.Error(t, c.probe(t.Context()))
	started := r.start(c)
	r.produce(0, r.events(50)...)
	r.exec(bringBack)
	require.NoError(t, <-started)
	stored := 50
	r.awaitCommit(0, int64(stored))
	for _, statements := range [][2]string{
		{"ALTER TABLE lodestone.events MODIFY SETTING table_readonly = 1",
			"ALTER TABLE lodestone.events MODIFY SETTING table_readonly = 0"},
		{takeAway, bringBack},
	} {
		r.exec(statements[0])
		r.produce(0, r.events(50)...)
		stored += 50
		require.Eventually(t, func() bool { return r.members() == 0 && c.Check(t.Context()) != nil },
			waitLimit, 20*time.Millisecond)
		r.exec(statements[1])
		r.awaitCommit(0, int64(stored))
		r.requireStored(stored)
		require.NoError(t, c.Check(t.Context()))
	}
}

// The embedded server has no REVOKE. Through the gate its answers are those to a user who may read
// the same names, and write nothing.
func TestAConsumerThatLosesItsRightToWriteLeavesItsPartitionsToOthers(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	reader, err := url.Parse(enginetest.Server(t).SQLURL())
	require.NoError(t, err)
	reader.Path = "/analytics"
	g := newGate(t, r.ClickHouse)
	r.requireLeaves(g.config, func() { g.loginAs(reader) }, func() { g.loginAs(nil) })
}
