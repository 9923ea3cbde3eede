package counter_test

import (
	"context"
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
	"lodestone/ingest/stream"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
	"lodestone/pkg/store"
	"lodestone/pkg/test/enginetest"
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

// partitionOf spreads links over the two partitions.
func partitionOf(link uuid.UUID) int32 { return int32(link[15] % 2) }

// sendMany produces an event of each of so many new links, and returns them in order.
func (r *rig) sendMany(n int) []uuid.UUID {
	r.t.Helper()
	links, records := make([]uuid.UUID, n), make([]*kgo.Record, n)
	for i := range links {
		links[i] = uuid.New()
		e := event.Event{
			AccountID: r.account, LeadMagnetID: r.magnet, AccessLinkID: links[i], EventID: uuid.New(), Type: event.PageViewed,
			CreatedAt: recently.UnixMilli(), ReceivedAt: recently.UnixMilli(),
		}
		records[i] = &kgo.Record{Topic: event.Topic, Partition: partitionOf(links[i]), Key: links[i][:], Value: e.Append(nil)}
	}
	r.Exec(`INSERT INTO access_links (id, account_id, lead_magnet_id, email, email_key, token_hash, token_sealed, token_key)
		SELECT id, $2, $3, 'a@example.com', 'a@example.com', sha256(id::text::bytea), '', 0 FROM unnest($1::uuid[]) AS id`, links, r.account, r.magnet)
	require.NoError(r.t, r.Client.ProduceSync(r.t.Context(), records...).FirstErr())
	return links
}

func (r *rig) awaitSum(want int64) {
	r.t.Helper()
	var got int64
	require.Eventually(r.t, func() bool {
		return r.Postgres.Unscoped().QueryRow(context.Background(),
			"SELECT sum(view_count)::bigint FROM counted_access_links").Scan(&got) == nil && got == want
	}, waitLimit, 20*time.Millisecond, "want %d views", want)
}

// awaitStored waits until the consumer has committed everything.
func (r *rig) awaitStored() {
	r.t.Helper()
	r.consume()
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
	r := newRig(t)
	links := r.sendMany(50)
	r.awaitStored()
	release, releaseToo := r.lockPartition(0), r.lockPartition(1)
	all := make([]*prometheus.Registry, 3)
	for i := range all {
		all[i] = prometheus.NewRegistry()
		c := counter.New(counter.Config{Interval: 100 * time.Millisecond}, counter.Deps{Group: "g", Kafka: r.Kafka,
			ClickHouse: r.ClickHouse, Postgres: r.Postgres, Log: r.log, Registerer: all[i]})
		enginetest.Run(t, c)
	}
	for _, m := range all { // each knows what is missing
		require.Eventually(t, func() bool { return metric(t, m, "lodestone_counter_lag_records") == float64(len(links)) },
			waitLimit, 20*time.Millisecond)
	}
	release()
	releaseToo()
	r.awaitSum(int64(len(links)))
	for _, m := range all {
		require.Eventually(t, func() bool { return metric(t, m, "lodestone_counter_lag_records") == 0 },
			waitLimit, 20*time.Millisecond)
	}
	sum := 0.0
	for _, m := range all {
		sum += metric(t, m, "lodestone_counter_links_total")
		require.Zero(t, metric(t, m, "lodestone_counter_errors_total"))
	}
	require.InDelta(t, len(links), sum, 0)
}

// Who opens a document updates its link. A count that waits for long, in the middle of a chunk,
// holds no lock against that.
func TestALongCountLetsReadersOpenTheirLinks(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	links := r.sendMany(6_000) // more than a chunk in each partition
	r.awaitStored()
	// The count cannot get beyond the chunk of one link.
	last := links[len(links)-1]
	r.Exec("INSERT INTO access_link_counts (id, account_id) VALUES ($1, $2)", last, r.account)
	tx, err := r.Postgres.Unscoped().Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(context.Background()) }()
	_, err = tx.Exec(t.Context(), "SELECT FROM access_link_counts WHERE id = $1 FOR UPDATE", last)
	require.NoError(t, err)
	r.start()
	require.Eventually(t, func() bool {
		var waiting bool
		err := r.Postgres.Unscoped().QueryRow(context.Background(),
			"SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0)").Scan(&waiting)
		return err == nil && waiting
	}, waitLimit, 20*time.Millisecond, "the counter does not get to the link")
	// Every link can be opened, with the lock that CountOpening takes.
	var free int
	require.NoError(t, r.Postgres.Transaction(t.Context(), func(tx pgx.Tx) error {
		return tx.QueryRow(t.Context(),
			"SELECT count(*) FROM (SELECT FROM access_links FOR NO KEY UPDATE NOWAIT) AS l").Scan(&free)
	}))
	require.Len(t, links, free)
	// Those of the chunks before are counted.
	var counted int
	require.NoError(t, r.Postgres.Unscoped().QueryRow(t.Context(),
		"SELECT count(*) FROM counted_access_links WHERE view_count = 1").Scan(&counted))
	require.Less(t, counted, len(links))
	require.NoError(t, tx.Commit(t.Context()))
	r.awaitSum(int64(len(links)))
}

// lockPartition holds what a counter holds that counts a partition.
func (r *rig) lockPartition(partition int32) (release func()) {
	r.t.Helper()
	topicID, _, err := kafka.Topic(r.t.Context(), r.Client, event.Topic)
	require.NoError(r.t, err)
	tx, err := r.Postgres.Unscoped().Begin(r.t.Context())
	require.NoError(r.t, err)
	r.t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
	mine, err := counter.TryLock(r.t.Context(), tx, topicID, partition)
	require.NoError(r.t, err)
	require.True(r.t, mine)
	return func() { require.NoError(r.t, tx.Commit(context.Background())) }
}

// A partition that another process counts holds up none of the others, and is counted once that
// process is gone.
func TestPartitionsAreCountedByThemselves(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	release := r.lockPartition(0)
	links := r.sendMany(40)
	r.awaitStored()
	topicID, _, err := kafka.Topic(t.Context(), r.Client, event.Topic)
	require.NoError(t, err)
	r.start()
	next := map[int32]int64{}
	require.Eventually(t, func() bool {
		rows, err := store.New(r.Postgres.Unscoped()).CounterProgress(context.Background(), topicID)
		for _, p := range rows {
			next[p.Partition] = p.NextOffset
		}
		return err == nil && next[1] > 0
	}, waitLimit, 20*time.Millisecond)
	require.NotContains(t, next, int32(0))
	release()
	r.awaitSum(int64(len(links)))
}

// A submission has the views of its links, whichever partitions they are in.
func TestCountersOfSeveralPartitionsAgreeOnASubmission(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	generic, submission := uuid.New(), uuid.New()
	r.Exec("INSERT INTO generic_links (id, account_id, lead_magnet_id, slug) VALUES ($1, $2, $3, $4)", generic,
		r.account, r.magnet, generic.String())
	r.Exec("INSERT INTO submissions (id, account_id, generic_link_id, email, email_key) VALUES ($1, $2, $3, 'a@example.com', 'a@example.com')",
		submission, r.account, generic)
	links := make([]uuid.UUID, 16) // in both partitions
	for i := range links {
		links[i] = r.link(&submission)
	}
	for range 3 {
		r.start()
	}
	for range 2 {
		for _, l := range links {
			r.send(l, func(*event.Event) {})
		}
	}
	r.await("submissions", submission, 32, 1, 32)
}

// A counter that is cut off from Postgres, or stopped, in the middle of its work counts nothing
// twice and forgets nothing.
func TestCountersSurviveKills(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	links := r.sendMany(4_000)
	r.awaitStored()
	counting := func() bool {
		var n int
		err := r.Postgres.Unscoped().QueryRow(context.Background(),
			"SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())").Scan(&n)
		return err == nil && n > 0
	}
	done := func() (n int64) {
		_ = r.Postgres.Unscoped().QueryRow(context.Background(),
			"SELECT coalesce(sum(view_count), 0)::bigint FROM counted_access_links").Scan(&n)
		return n
	}
	for kill := range 4 {
		stop, other := r.start(), r.start()
		require.Eventually(t, func() bool { return counting() || done() == int64(len(links)) }, waitLimit, time.Millisecond)
		if kill%2 == 0 {
			_, _ = r.Postgres.Unscoped().Exec(context.Background(), `SELECT pg_terminate_backend(l.pid) FROM pg_locks l
				WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' AND l.pid <> pg_backend_pid() AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
		}
		stop()
		other()
	}
	r.start()
	r.awaitSum(int64(len(links)))
	var wrong int
	require.NoError(t, r.Postgres.Unscoped().QueryRow(t.Context(),
		"SELECT count(*) FROM counted_access_links WHERE view_count <> 1").Scan(&wrong))
	require.Zero(t, wrong)
}

// A topic that is deleted and recreated has another id: what was stored of the old one, and not
// counted yet, is counted.
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

// Rows that a running counter had not counted when its topic was replaced are counted without
// waiting for the hourly look.
func TestRowsOfATopicThatIsReplacedAreCountedAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	link := r.link(nil)
	pass := r.passes()
	pass() // looks for rows of topics that are gone
	r.send(link, func(*event.Event) {})
	r.awaitStored()
	r.stopConsumer()
	_, err := kadm.NewClient(r.Client).DeleteTopics(t.Context(), event.Topic, event.LinkViewTopic)
	require.NoError(t, err)
	_, err = kafka.CreateTopics(t.Context(), r.Client, kafka.TopicConfig{Partitions: 2, Replication: 1})
	require.NoError(t, err)
	pass() // sees the new topics
	pass()
	var views int64
	require.NoError(t, r.Postgres.Unscoped().QueryRow(t.Context(),
		"SELECT view_count FROM counted_access_links WHERE id = $1", link).Scan(&views))
	require.EqualValues(t, 1, views)
}

// A commit for another topic of the same name does not count for this one.
func TestACommitForAnotherTopicIsNoProgress(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.stopConsumer()
	offsets := kadm.Offsets{}
	offsets.Add(kadm.Offset{Topic: event.Topic, Partition: 0, At: 100, LeaderEpoch: -1,
		Metadata: stream.Announcement{Rules: stream.BlockRules, TopicID: uuid.New(), Last: stream.NoIntent}.String()})
	require.NoError(t, kadm.NewClient(r.Client).CommitAllOffsets(t.Context(), "g", offsets))
	r.start()
	require.Eventually(t, func() bool { // it has looked
		var caughtUp bool
		err := r.Postgres.Unscoped().QueryRow(context.Background(),
			"SELECT EXISTS (SELECT FROM rounds WHERE service = 'counters')").Scan(&caughtUp)
		return err == nil && caughtUp
	}, waitLimit, 20*time.Millisecond)
	topicID, _, err := kafka.Topic(t.Context(), r.Client, event.Topic)
	require.NoError(t, err)
	var progress int
	require.NoError(t, r.Postgres.Unscoped().QueryRow(t.Context(),
		"SELECT count(*) FROM counted_partitions WHERE topic_id = $1", topicID).Scan(&progress))
	require.Zero(t, progress)
}

func TestRecountAll(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	read, unread := r.link(nil), r.link(nil)
	r.send(read, func(*event.Event) {})
	r.awaitStored()
	r.Exec("INSERT INTO access_link_counts (id, account_id, views, last_viewed_at) SELECT id, account_id, 99, now() FROM access_links")
	conn, err := clickhouse.Open(r.ClickHouse, 1)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	total := 0
	require.NoError(t, counter.RecountAll(t.Context(), r.Postgres, 1, conn, func(links int) { total = links }))
	require.Equal(t, 2, total)
	r.await("access_links", read, 1, 1, 1)
	r.await("access_links", unread, 0, 0, 0)
	// Whatever topic its rows came through.
	require.NoError(t, conn.Exec(native.Context(t.Context(), native.WithParameters(native.Parameters{
		"account": r.account.String(), "magnet": r.magnet.String(), "link": unread.String(), "event": uuid.NewString(),
		"topic": uuid.NewString(), "at": recently.Format("2006-01-02 15:04:05"),
	})), `INSERT INTO lodestone.events (account_id, lead_magnet_id, access_link_id, event_id, event_type, created_at, received_at, kafka_topic_id)
		SELECT {account:UUID}, {magnet:UUID}, {link:UUID}, {event:UUID}, 'page_viewed', toDateTime64({at:String}, 3), toDateTime64({at:String}, 3), {topic:UUID}
		SETTINGS async_insert = 0`))
	require.NoError(t, counter.RecountAll(t.Context(), r.Postgres, 1, conn, func(int) {}))
	r.await("access_links", unread, 1, 0, 0)
}
