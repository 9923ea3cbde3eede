package upgrade_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/client"
	"lodestone/pkg/test/enginetest"
	"lodestone/pkg/token"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// phase is how many events are acknowledged in each step, at least. `make upgrade` takes many.
func phase(t *testing.T) int64 {
	t.Helper()
	text := os.Getenv("UPGRADE_EVENTS")
	if text == "" {
		return 2_000
	}
	n, err := strconv.ParseInt(text, 10, 64)
	require.NoError(t, err)
	return n
}

// An installation goes from the release before to this one, back, and to this one again, in the
// order of docs/upgrade.md. Events come all the time; none is lost or counted twice, and no process
// of either release gets unready.
func TestUpgradeAndRollback(t *testing.T) {
	t.Parallel()
	from := previous(t)
	before, after := build(t, from), build(t, "")
	events := phase(t)
	kafka := enginetest.NewKafka(t, t.TempDir())
	enginetest.Run(t, kafka)
	clickhouse := enginetest.NewClickHouse(t, enginetest.Dir(t))
	enginetest.Run(t, clickhouse)
	i := installation{t: t, dir: t.TempDir(), env: []string{
		"LODESTONE_KAFKA_BROKERS=" + strings.Join(kafka.Brokers(), ","), "LODESTONE_CLICKHOUSE_URL=" + clickhouse.URL(),
		"LODESTONE_POSTGRES_URL=" + enginetest.Postgres(t),
		"LODESTONE_TOKEN_KEYS=" + token.NewKeys(7).Keys, "LODESTONE_KAFKA_PARTITIONS=6",
		"LODESTONE_CONSUMER_SESSION_TIMEOUT=6s", "LODESTONE_CONSUMER_INSERT_TIMEOUT=5s",
		"LODESTONE_LIMIT_REQUESTS_PER_MINUTE=1000000", "LODESTONE_LIMIT_ANALYTICS_PER_MINUTE=1000000",
	}}

	// The release before, as it runs.
	i.mustRun(before, "migrate")
	account := i.mustRun(before, "account", "create", "--name", "Test", "--plan", "team")
	_, key, found := strings.Cut(i.mustRun(before, "key", "create", "--account", account), "key: ")
	require.True(t, found)
	old := i.all(before)
	l := newLoad(t, client.New(client.Config{URL: "http://" + old.crud.listen, Key: key}))
	l.to(old.collector)
	l.start(4)
	l.notef("%s runs", from)
	l.more(events)
	l.caughtUp(old.query, key)

	// Its processes go on while the schema gets that of this release.
	code, printed := i.run(after, "migrate", "--check")
	require.Contains(t, []int{0, 3}, code, "no process has to stop: %s", printed)
	t.Logf("from %s:\n%s", from, printed)
	i.mustRun(after, "migrate")
	require.Equal(t, "no migration is pending", i.mustRun(after, "migrate", "--check"))
	l.notef("the schema is that of this release; the processes of the release before go on")
	l.more(events)
	old.requireReady()
	l.caughtUp(old.query, key)

	// Upward: crud and query, the consumers, the collectors last. One of each release runs for a
	// while.
	now := i.upgrade(t, old, after, l, key, events)
	l.caughtUp(now.query, key)

	// Back: the collectors first.
	collector := i.start(before, "collector")
	l.to(now.collector, collector)
	l.more(events)
	l.to(collector)
	now.collector.stop()
	l.notef("the release before has the collector back")
	consumer := i.start(before, "consumer")
	l.more(events)
	now.consumer.stop()
	l.notef("the release before has the consumer back")
	query := i.start(before, "query")
	crud := i.start(before, "crud", "LODESTONE_QUERY_URL=http://"+query.listen)
	now.query.stop()
	now.crud.stop()
	l.more(events)
	old = processes{crud, query, consumer, collector}
	old.requireReady()
	l.caughtUp(old.query, key)
	l.notef("the release before has everything back, and everything is stored")

	// And upward again.
	now = i.upgrade(t, old, after, l, key, events)
	l.stop()
	acked := l.acked.Load()
	l.caughtUp(now.query, key)
	require.Eventually(t, func() bool { return l.linkViews(now.crud, key) == acked }, enginetest.Timeout,
		200*time.Millisecond, "the counter of the link does not get to %d", acked)
	var total int64
	require.Eventually(t, func() bool {
		total = l.total(now.query, key)
		return total >= acked
	}, enginetest.Timeout, 200*time.Millisecond, "%d events are acknowledged", acked)
	require.Equal(t, acked, total, "0 lost, 0 doubled")
	now.requireReady()
	verified := i.mustRun(after, "verify")
	require.Contains(t, verified, "differences: 0")
	l.notef("lodestone verify printed:\n%s", verified)
	t.Logf("%d events were acknowledged, and each is counted once", acked)
}

type processes struct{ crud, query, consumer, collector *process }

// all starts one process of each kind.
func (i installation) all(program string) processes {
	i.t.Helper()
	query := i.start(program, "query")
	return processes{i.start(program, "crud", "LODESTONE_QUERY_URL=http://"+query.listen), query,
		i.start(program, "consumer"), i.start(program, "collector")}
}

func (p processes) requireReady() {
	for _, one := range []*process{p.crud, p.query, p.consumer, p.collector} {
		require.Eventually(one.t, one.ready, enginetest.Timeout, 50*time.Millisecond,
			"%s is not ready: %s", one.name, one.out)
	}
}

// upgrade replaces processes by those of another program, each kind with a time at which both run.
func (i installation) upgrade(t *testing.T, old processes, program string, l *load, key string,
	events int64) (now processes) {
	t.Helper()
	now.query = i.start(program, "query")
	now.crud = i.start(program, "crud", "LODESTONE_QUERY_URL=http://"+now.query.listen)
	l.caughtUp(now.query, key)
	l.caughtUp(old.query, key)
	old.crud.stop()
	old.query.stop()
	l.notef("query and crud are of this release")
	now.consumer = i.start(program, "consumer")
	l.more(events)
	old.consumer.stop()
	l.notef("the consumer is of this release")
	l.more(events)
	now.collector = i.start(program, "collector")
	l.to(old.collector, now.collector)
	l.more(events)
	l.to(now.collector)
	old.collector.stop()
	l.notef("the collector is of this release")
	l.more(events)
	now.requireReady()
	return now
}
