package counter_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/counter"
	"lodestone/ingest/retention"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/engine/enginetest"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
)

// metric returns the value of a metric without labels.
func metric(t *testing.T, metrics *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := metrics.Gather()
	require.NoError(t, err)
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetCounter().GetValue() + f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	require.Fail(t, "no such metric", name)
	return 0
}

// sendMany produces an event of each of so many new links, and returns them in order.
func (r *rig) sendMany(n int) []uuid.UUID {
	r.t.Helper()
	links, records := make([]uuid.UUID, n), make([]*kgo.Record, n)
	for i := range links {
		links[i] = uuid.New()
		e := event.Event{
			AccountID: r.account, LeadMagnetID: r.magnet, AccessLinkID: links[i], EventID: uuid.New(), Type: event.PageViewed,
			CreatedAt: noon.UnixMilli(), ReceivedAt: noon.UnixMilli(),
		}
		records[i] = &kgo.Record{Topic: event.Topic, Key: links[i][:], Value: e.Append(nil)}
	}
	r.Exec(`INSERT INTO access_links (id, account_id, lead_magnet_id, email, email_key, token_clear)
		SELECT id, $2, $3, 'a@example.com', 'a@example.com', id::text FROM unnest($1::uuid[]) AS id`, links, r.account, r.magnet)
	require.NoError(r.t, r.Client.ProduceSync(r.t.Context(), records...).FirstErr())
	return links
}

func (r *rig) awaitSum(want int64) {
	r.t.Helper()
	var got int64
	require.Eventually(r.t, func() bool {
		return r.Postgres.Unscoped().QueryRow(context.Background(), "SELECT sum(view_count)::bigint FROM access_links").Scan(&got) == nil && got == want
	}, waitLimit, 20*time.Millisecond, "want %d views", want)
}

// awaitStored waits until the consumer has committed everything.
func (r *rig) awaitStored() {
	r.t.Helper()
	require.Eventually(r.t, func() bool {
		commits, err := kadm.NewClient(r.Client).FetchOffsets(context.Background(), "g")
		ranges, err2 := kafka.Ranges(context.Background(), r.Client, event.Topic)
		if err != nil || err2 != nil {
			return false
		}
		for partition, held := range ranges {
			if o, _ := commits.Lookup(event.Topic, partition); held.To > 0 && o.At < held.To {
				return false
			}
		}
		return true
	}, waitLimit, 20*time.Millisecond)
}

// Of several counters one counts each link, and the others see that it did.
func TestSeveralCountersShareTheWork(t *testing.T) {
	t.Parallel()
	server := enginetest.NewClickHouse(t, t.TempDir()) // of its own: links of other tests would be counted as well
	enginetest.Run(t, server)
	r := newRigOn(t, enginetest.NewStack(t, enginetest.StackConfig{ClickHouse: server.URL(), Partitions: 2}))
	links := r.sendMany(50)
	r.awaitStored()
	tx, err := r.Postgres.Unscoped().Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(context.Background()) }()
	require.NoError(t, retention.Lock(t.Context(), tx))
	all := make([]*prometheus.Registry, 3)
	for i := range all {
		all[i] = prometheus.NewRegistry()
		c := counter.New(counter.Config{Interval: 20 * time.Millisecond}, counter.Deps{Group: "g", Kafka: r.Kafka, ClickHouse: r.ClickHouse, Postgres: r.Postgres, Log: r.log, Registerer: all[i]})
		enginetest.Run(t, c)
	}
	for _, m := range all { // each knows what is missing
		require.Eventually(t, func() bool { return metric(t, m, "lodestone_counter_lag_records") == float64(len(links)) }, waitLimit, 20*time.Millisecond)
	}
	require.NoError(t, tx.Commit(t.Context()))
	r.awaitSum(int64(len(links)))
	for _, m := range all {
		require.Eventually(t, func() bool { return metric(t, m, "lodestone_counter_lag_records") == 0 }, waitLimit, 20*time.Millisecond)
	}
	sum := 0.0
	for _, m := range all {
		sum += metric(t, m, "lodestone_counter_links_total")
		require.Zero(t, metric(t, m, "lodestone_counter_errors_total"))
	}
	require.InDelta(t, len(links), sum, 0)
}

// Who opens a document updates its link: a count that goes on for long holds few of them, and not for long.
func TestALongCountLetsReadersOpenTheirLinks(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	links := r.sendMany(6_000) // more than a chunk in each partition
	r.awaitStored()
	// The count cannot get beyond the last chunks.
	tx, err := r.Postgres.Unscoped().Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(context.Background()) }()
	_, err = tx.Exec(t.Context(), "SELECT FROM access_links WHERE id = ANY($1) FOR UPDATE", links[5_900:])
	require.NoError(t, err)
	r.start()
	require.Eventually(t, func() bool {
		var waiting bool
		err := r.Postgres.Unscoped().QueryRow(context.Background(),
			"SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0)").Scan(&waiting)
		return err == nil && waiting
	}, waitLimit, 20*time.Millisecond, "the counter does not get to the end")
	// Those of the chunk before are counted, and free.
	var counted, free int
	require.NoError(t, r.Postgres.Unscoped().QueryRow(t.Context(), "SELECT count(*) FROM access_links WHERE view_count = 1").Scan(&counted))
	require.GreaterOrEqual(t, counted, 2_000)
	require.NoError(t, r.Postgres.Transaction(t.Context(), func(tx pgx.Tx) error {
		return tx.QueryRow(t.Context(), "SELECT count(*) FROM (SELECT FROM access_links WHERE view_count = 1 FOR UPDATE NOWAIT) AS l").Scan(&free)
	}))
	require.Equal(t, counted, free)
	require.NoError(t, tx.Commit(t.Context()))
	r.awaitSum(int64(len(links)))
}

// A topic that is deleted and recreated has another id: what was stored of the old one, and not counted yet, is counted.
func TestRowsOfATopicThatIsGoneAreCounted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	link := r.link(nil)
	r.send(link, func(*event.Event) {})
	r.awaitStored()
	r.stopConsumer()
	_, err := kadm.NewClient(r.Client).DeleteTopics(t.Context(), event.Topic, event.LinkViewTopic)
	require.NoError(t, err)
	_, err = kafka.CreateTopics(t.Context(), r.Client, kafka.TopicConfig{Partitions: 2, Replication: 1})
	require.NoError(t, err)
	r.start()
	r.await("access_links", link, 1, 1, 1)
}

// A commit for another topic of the same name does not count for this one.
func TestACommitForAnotherTopicIsNoProgress(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.stopConsumer()
	offsets := kadm.Offsets{}
	offsets.Add(kadm.Offset{Topic: event.Topic, Partition: 0, At: 100, LeaderEpoch: -1, Metadata: fmt.Sprintf("1 %s -1", uuid.New())})
	require.NoError(t, kadm.NewClient(r.Client).CommitAllOffsets(t.Context(), "g", offsets))
	r.start()
	require.Eventually(t, func() bool { // it has looked
		var caughtUp bool
		err := r.Postgres.Unscoped().QueryRow(context.Background(), "SELECT EXISTS (SELECT FROM counter_state)").Scan(&caughtUp)
		return err == nil && caughtUp
	}, waitLimit, 20*time.Millisecond)
	topicID, _, err := kafka.Topic(t.Context(), r.Client, event.Topic)
	require.NoError(t, err)
	var progress int
	require.NoError(t, r.Postgres.Unscoped().QueryRow(t.Context(), "SELECT count(*) FROM counter_progress WHERE topic_id = $1", topicID).Scan(&progress))
	require.Zero(t, progress)
}

func TestRecountAll(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	read, unread := r.link(nil), r.link(nil)
	r.send(read, func(*event.Event) {})
	r.awaitStored()
	r.Exec("UPDATE access_links SET view_count = 99, viewed = true, last_viewed_at = now()")
	conn, err := clickhouse.Open(r.ClickHouse, 1)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	total := 0
	require.NoError(t, counter.RecountAll(t.Context(), r.Postgres, conn, func(links int) { total = links }))
	require.Equal(t, 2, total)
	r.await("access_links", read, 1, 1, 1)
	r.await("access_links", unread, 0, 0, 0)
	// Whatever topic its rows came through.
	require.NoError(t, conn.Exec(native.Context(t.Context(), native.WithParameters(native.Parameters{
		"account": r.account.String(), "magnet": r.magnet.String(), "link": unread.String(), "event": uuid.NewString(), "topic": uuid.NewString(), "at": noon.Format("2006-01-02 15:04:05"),
	})), `INSERT INTO lodestone.events (account_id, lead_magnet_id, access_link_id, event_id, event_type, created_at, received_at, kafka_topic_id)
		SELECT {account:UUID}, {magnet:UUID}, {link:UUID}, {event:UUID}, 'page_viewed', toDateTime64({at:String}, 3), toDateTime64({at:String}, 3), {topic:UUID}
		SETTINGS async_insert = 0`))
	require.NoError(t, counter.RecountAll(t.Context(), r.Postgres, conn, func(int) {}))
	r.await("access_links", unread, 1, 0, 0)
}
