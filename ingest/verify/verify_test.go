package verify

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/counter"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
	"lodestone/pkg/store"
)

// fill stores events, a repeat, poison and link views: offset 3 repeats 1, 5 and 6 are poison.
func (r *rig) fill() {
	r.t.Helper()
	e := r.events(5)
	values := [][]byte{e[0], e[1], e[2], e[1], e[3], []byte("\xff"), {8, 99}, e[4]}
	r.produce(event.Topic, values...)
	r.produce(event.LinkViewTopic, r.view(), r.view())
	r.consume()
}

// copyRow stores a row once more, under an offset.
func (r *rig) copyRow(source, offset string) {
	r.t.Helper()
	r.clickhouse(`INSERT INTO lodestone.events (account_id, lead_magnet_id, access_link_id, event_id, event_type, created_at, received_at, kafka_topic_id, kafka_partition, kafka_offset)
		SELECT account_id, lead_magnet_id, access_link_id, event_id, event_type, created_at, received_at, kafka_topic_id, kafka_partition, ` + offset + `
		FROM lodestone.events WHERE kafka_topic_id = {topic:UUID} AND kafka_offset = ` + source + ` LIMIT 1`)
}

func TestAllIsWell(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	requireWell(t, r)
}

func requireWell(t *testing.T, r *rig) {
	t.Helper()
	r.requireDifferences(Span{}) // nothing is there yet
	r.fill()
	r.produce(event.Topic, r.events(3)...) // the consumer is behind
	report := r.run(Span{})
	require.Empty(t, report.Differences)
	require.Equal(t, Partition{
		Topic: event.Topic, Offsets: kafka.Range{From: 0, To: 8}, Records: 8, Rows: 5, Repeats: 1, DeadLetters: 2,
	}, report.Partitions[0])
	require.Equal(t, int64(3), report.Links)
	r.requireDifferences(Span{Since: time.Now().Add(-time.Hour), Until: time.Now().Add(time.Hour)})
}

// What stands in a partition that no key belongs to was passed on, and is compared where it was
// written to.
func TestRecordsOfAnUnusedPartitionAreCompared(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	_, err := (kafka.Ledger{Pool: r.Postgres}).Partitions(t.Context(), r.TopicID, event.Topic, 1)
	require.NoError(t, err)
	e := r.event()
	require.NoError(t, r.Client.ProduceSync(t.Context(), &kgo.Record{Topic: event.Topic, Partition: 1,
		Key: e.AccessLinkID[:], Value: e.Append(nil)}).FirstErr())
	r.consumeUntil(func() bool {
		ranges, err := kafka.Ranges(context.Background(), r.Client, event.Topic)
		return err == nil && ranges[0].To == 1 && r.behind() == 0
	})
	r.requireDifferences(Span{})
	r.clickhouse("ALTER TABLE lodestone.events DELETE WHERE kafka_topic_id = {topic:UUID} SETTINGS mutations_sync = 1")
	r.requireDifferences(Span{}, "lost      lodestone.events partition 0, offsets 0 to 0", "access link")
}

func TestEachDifferenceIsFound(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fill()
	for _, c := range []struct{ harm, cure, want string }{
		{"UPDATE access_link_counts SET views = views + 7",
			"UPDATE access_link_counts SET views = views - 7", "has 12 views"},
		{"UPDATE access_link_counts SET last_viewed_at = last_viewed_at + interval '1 day'",
			"UPDATE access_link_counts SET last_viewed_at = last_viewed_at - interval '1 day'", "access link"},
		{"INSERT INTO access_link_counts (id, account_id, views) SELECT id, account_id, 7 FROM access_links WHERE id = '" +
			r.other.String() + "'", "DELETE FROM access_link_counts WHERE views = 7", "0 views"},
		{"UPDATE generic_link_counts SET views = views + 1", "UPDATE generic_link_counts SET views = views - 1",
			"generic link"},
	} {
		r.Exec(c.harm)
		r.requireDifferences(Span{}, c.want)
		r.Exec(c.cure)
	}
	r.produce(event.Topic, r.events(3)...)
	r.consume()
	r.requireDifferences(Span{})
	r.clickhouse("ALTER TABLE lodestone.events DELETE WHERE kafka_topic_id = {topic:UUID} AND kafka_offset IN (2, 8, 9) SETTINGS mutations_sync = 2")
	r.copyRow("4", "4")
	r.copyRow("1", "3")
	r.copyRow("1", "12")
	rows := "lodestone.events partition 0, offsets "
	want := []string{"lost      " + rows + "2 to 2 (1;", "repeated  " + rows + "3 to 3 (1;",
		"doubled   " + rows + "4 to 4 (1;", "lost      " + rows + "8 to 9 (2;", "foreign   " + rows + "11 to 12 (2;"}
	r.requireDifferences(Span{}, append(want, "access link")...)
	r.Exec("DELETE FROM access_links WHERE id = $1", r.link) // what it counted is right
	r.requireDifferences(Span{}, want...)
}

func TestADeadLetterThatIsMissingIsALoss(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fill()
	ranges, err := kafka.Ranges(t.Context(), r.Client, event.DeadLetterTopic)
	require.NoError(t, err)
	for partition, held := range ranges {
		r.deleteRecords(event.DeadLetterTopic, partition, held.To)
	}
	r.requireDifferences(Span{}, "lost      lodestone.events partition 0, offsets 5 to 6 (2;")
}

func TestOnlyTheSpanIsCompared(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	now := time.Now()
	e := r.events(3)
	for i, hours := range []int{3, 2, 1} {
		r.produceAt(now.Add(-time.Duration(hours)*time.Hour), event.Topic, e[i])
	}
	r.produceAt(now.Add(-30*time.Minute), event.Topic, e[0]) // a repeat of what lies before the span
	r.consume()
	r.clickhouse("ALTER TABLE lodestone.events DELETE WHERE kafka_topic_id = {topic:UUID} AND kafka_offset = 1 SETTINGS mutations_sync = 2")
	r.Exec("UPDATE access_link_counts SET views = 2 WHERE id = $1", r.link)
	r.requireDifferences(Span{Since: now.Add(-90 * time.Minute)})
	r.requireDifferences(Span{Until: now.Add(-150 * time.Minute)})
	r.requireDifferences(Span{Since: now.Add(-150 * time.Minute), Until: now.Add(-90 * time.Minute)},
		"lost      lodestone.events partition 0, offsets 1 to 1")
}

func TestWhatExpiredInTheLogIsNotLost(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fill()
	r.deleteRecords(event.Topic, 0, 3) // offset 3 repeats 1, which is gone from the log
	r.requireDifferences(Span{})
	r.copyRow("1", "1")
	r.requireDifferences(Span{}, "doubled   lodestone.events partition 0, offsets 1 to 1")
}

func TestTheRunningCheckRaisesAndClearsTheAlarm(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fill()
	metrics := prometheus.NewRegistry()
	w := NewWatch(Config{Interval: time.Second, Offsets: 1000}, Deps{Group: "g", Kafka: r.Kafka, ClickHouse: r.ClickHouse,
		Postgres: r.Postgres, Log: slog.New(slog.DiscardHandler), Registerer: metrics})
	require.NoError(t, w.round(t.Context(), 0))
	require.Zero(t, gauge(t, metrics, Lost))

	r.produce(event.Topic, r.events(10)...)
	r.consume()
	r.clickhouse("ALTER TABLE lodestone.events DELETE WHERE kafka_topic_id = {topic:UUID} AND kafka_offset = 12 SETTINGS mutations_sync = 2")
	r.copyRow("13", "13")
	require.NoError(t, w.round(t.Context(), 0))
	require.InDelta(t, 1, gauge(t, metrics, Lost), 0)
	require.InDelta(t, 1, gauge(t, metrics, Doubled), 0)
	require.InDelta(t, 1, gauge(t, metrics, Counter), 0)

	// It stays until it is fixed, although the next rounds look at later records.
	r.produce(event.Topic, r.events(10)...)
	r.consume()
	require.NoError(t, counter.RecountAll(t.Context(), r.Postgres, 1, r.Conn, func(int) {}))
	require.NoError(t, w.round(t.Context(), 0))
	require.InDelta(t, 1, gauge(t, metrics, Lost), 0)
	require.InDelta(t, 1, gauge(t, metrics, Doubled), 0)
	require.Zero(t, gauge(t, metrics, Counter), "the counters follow the rows")
	r.clickhouse("ALTER TABLE lodestone.events DELETE WHERE kafka_topic_id = {topic:UUID} AND kafka_offset IN (12, 13) SETTINGS mutations_sync = 2")
	r.copyRow("14", "12")
	r.copyRow("14", "13")
	require.NoError(t, w.round(t.Context(), 0))
	require.Zero(t, gauge(t, metrics, Lost))
	require.Zero(t, gauge(t, metrics, Doubled))
}

// The window of repeats reaches back beyond where the round begins: a repeat that was stored is
// found although its event was judged by an earlier one, and stays found.
func TestTheRunningCheckFindsARepeatOfAnEventBeforeItsRange(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	values := r.events(3)
	r.produce(event.Topic, values...)
	r.consume()
	metrics := prometheus.NewRegistry()
	w := NewWatch(Config{Interval: time.Second, Offsets: 1000}, Deps{Group: "g", Kafka: r.Kafka, ClickHouse: r.ClickHouse,
		Postgres: r.Postgres, Log: slog.New(slog.DiscardHandler), Registerer: metrics})
	require.NoError(t, w.round(t.Context(), 0))
	r.produce(event.Topic, values[0])
	r.consume()
	r.copyRow("0", "3") // as if the consumer had not seen that it repeats
	require.NoError(t, w.round(t.Context(), 0))
	require.InDelta(t, 1, gauge(t, metrics, Repeated), 0)
	r.produce(event.Topic, r.events(3)...)
	r.consume()
	require.NoError(t, w.round(t.Context(), 0))
	require.InDelta(t, 1, gauge(t, metrics, Repeated), 0, "it is there until it is fixed")
	r.clickhouse("ALTER TABLE lodestone.events DELETE WHERE kafka_topic_id = {topic:UUID} AND kafka_offset = 3 SETTINGS mutations_sync = 2")
	require.NoError(t, w.round(t.Context(), 0))
	require.Zero(t, gauge(t, metrics, Repeated))
}

// watch returns a running check that starts without memory, as another process does.
func (r *rig) watch(offsets int64) (*Watch, *prometheus.Registry) {
	metrics := prometheus.NewRegistry()
	return NewWatch(Config{Interval: time.Hour, Offsets: offsets},
		Deps{Group: "g", Kafka: r.Kafka, ClickHouse: r.ClickHouse, Postgres: r.Postgres, Log: slog.New(slog.DiscardHandler),
			Registerer: metrics}), metrics
}

// A ClickHouse that is restored from a backup lacks what was stored since, which was compared long
// ago.
func TestTheRunningCheckFindsAHoleInWhatItComparedBefore(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.produce(event.Topic, r.events(200)...)
	r.consume()
	round := func() *prometheus.Registry {
		t.Helper()
		w, metrics := r.watch(100)
		require.NoError(t, w.round(t.Context(), 0))
		return metrics
	}
	for range 2 {
		round()
	}
	require.Zero(t, gauge(t, round(), Lost))
	r.clickhouse("ALTER TABLE lodestone.events DELETE WHERE kafka_topic_id = {topic:UUID} AND kafka_offset BETWEEN 20 AND 69 SETTINGS mutations_sync = 2")
	require.InDelta(t, 50, gauge(t, round(), Lost), 0)

	// The runbook: the offsets are set back, and what is missing comes from the log.
	offsets := kadm.Offsets{}
	offsets.Add(kadm.Offset{Topic: event.Topic, Partition: 0, At: 0, LeaderEpoch: -1})
	require.NoError(t, kadm.NewClient(r.Client).CommitAllOffsets(t.Context(), "g", offsets))
	r.consumeAgain()
	metrics := round()
	require.Zero(t, gauge(t, metrics, Lost))
	require.Zero(t, gauge(t, metrics, Doubled))
}

// A round that cannot compare everything that came leaves the rest to the next ones.
func TestTheRunningCheckComparesEverythingOverRounds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.produce(event.Topic, r.events(80)...)
	r.consume()
	r.clickhouse("ALTER TABLE lodestone.events DELETE WHERE kafka_topic_id = {topic:UUID} AND kafka_offset = 50 SETTINGS mutations_sync = 2")
	for _, want := range []float64{0, 0, 1, 1} {
		w, metrics := r.watch(20)
		require.NoError(t, w.round(t.Context(), 0))
		require.InDelta(t, want, gauge(t, metrics, Lost), 0)
	}
}

// However many processes there are, they make one round an interval, and all of them show what it
// found.
func TestProcessesShareTheRunningCheck(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fill()
	r.copyRow("0", "0")
	first, shown := r.watch(1000)
	require.NoError(t, first.round(t.Context(), time.Hour))
	require.InDelta(t, 1, gauge(t, shown, Doubled), 0)
	require.Positive(t, compared(t, shown))
	second, shown := r.watch(1000)
	require.NoError(t, second.round(t.Context(), time.Hour))
	require.InDelta(t, 1, gauge(t, shown, Doubled), 0)
	require.Zero(t, compared(t, shown), "the first one has just done it")
}

// compared returns how many records a process compared.
func compared(t *testing.T, metrics *prometheus.Registry) float64 {
	t.Helper()
	families, err := metrics.Gather()
	require.NoError(t, err)
	for _, f := range families {
		if f.GetName() == "lodestone_verify_records_total" {
			return f.GetMetric()[0].GetCounter().GetValue()
		}
	}
	require.Fail(t, "no such metric")
	return 0
}

func TestTheRunningCheckRunsByItself(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fill()
	r.copyRow("0", "0")
	metrics := prometheus.NewRegistry()
	w := NewWatch(Config{Interval: time.Second, Offsets: 1000}, Deps{Group: "g", Kafka: r.Kafka, ClickHouse: r.ClickHouse,
		Postgres: r.Postgres, Log: slog.New(slog.DiscardHandler), Registerer: metrics})
	require.NoError(t, w.Start(t.Context()))
	require.Eventually(t, func() bool { return gauge(t, metrics, Doubled) == 1 }, waitLimit, 50*time.Millisecond)
	require.NoError(t, w.Stop(context.Background()))
}

func gauge(t *testing.T, metrics *prometheus.Registry, kind Kind) float64 {
	t.Helper()
	families, err := metrics.Gather()
	require.NoError(t, err)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "lodestone_verify_differences" && m.GetLabel()[0].GetValue() == string(kind) {
				return m.GetGauge().GetValue()
			}
		}
	}
	require.Fail(t, "no such metric")
	return 0
}

func TestRecordsThatExpiredBeforeTheyWereStoredAreReportedAndNoDifference(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.produce(event.Topic, r.events(10)...)
	r.deleteRecords(event.Topic, 0, 4)
	r.consume()
	r.requireExpired(r.requireDifferences(Span{}), "expired   lodestone.events partition 0, offsets 0 to 3 (4;")
	r.requireExpired(r.requireDifferences(Span{Since: time.Now().Add(time.Hour)}))
}

// requireExpired fails unless the report has these ranges of the rig's topic, by what their lines
// begin with.
func (r *rig) requireExpired(report *Report, want ...string) {
	r.t.Helper()
	var got []string
	for _, e := range report.Expired {
		if e.TopicID == r.TopicID {
			got = append(got, e.String())
		}
	}
	require.Len(r.t, got, len(want))
	for i := range want {
		require.Contains(r.t, got[i], want[i])
	}
}

// A broker that is killed soon after it deleted records has them again: it writes down where its
// log begins now and then only.
func TestRecordsOnRecordAsExpiredThatAreInTheLogAgainAreNoDifference(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.produce(event.Topic, r.events(10)...)
	r.consume()
	r.clickhouse("ALTER TABLE lodestone.events DELETE WHERE kafka_topic_id = {topic:UUID} AND kafka_offset < 5 SETTINGS mutations_sync = 2")
	require.NoError(t, store.New(r.Postgres.Unscoped()).AddLostRange(t.Context(), store.AddLostRangeParams{
		TopicID: r.TopicID, Copy: 1, Topic: event.Topic, FirstOffset: 0, PastOffset: 4,
	}))
	report := r.requireDifferences(Span{}, "lost      lodestone.events partition 0, offsets 4 to 4 (1;", "counter")
	r.requireExpired(report, "expired   lodestone.events partition 0, offsets 0 to 3 (4;")
}

// A log that lost its end gave the offsets of stored rows to other records, and has grown past
// them.
func TestRecordsThatTookTheOffsetsOfStoredRowsAreFound(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	values := r.events(10)
	r.produce(event.Topic, values...)
	r.consume()
	r.requireDifferences(Span{})
	r.clickhouse("ALTER TABLE lodestone.events UPDATE event_id = generateUUIDv4() WHERE kafka_topic_id = {topic:UUID} AND kafka_offset >= 7 SETTINGS mutations_sync = 2")
	r.requireDifferences(Span{}, "partition 0, offsets 7 to 9 (3;")
}
