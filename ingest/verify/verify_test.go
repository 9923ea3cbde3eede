package verify

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/engine/enginetest"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
)

// fill stores events, a repeat, poison and link views: offset 3 repeats 1, 5 and 6 are poison.
func (r *rig) fill() {
	r.t.Helper()
	e := r.events(5)
	values := [][]byte{e[0], e[1], e[2], e[1], e[3], []byte("\xff"), append([]byte{8, 99}, e[4][2:]...), e[4]}
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

func TestAllIsWellOnApacheKafka(t *testing.T) {
	t.Parallel()
	requireWell(t, newRigOn(t, enginetest.ApacheKafka(t)))
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

func TestEachDifferenceIsFound(t *testing.T) {
	t.Parallel()
	views := "lodestone.events partition 0, offsets "
	for name, c := range map[string]struct {
		harm func(r *rig)
		want []string
	}{
		"a row is gone": {
			func(r *rig) {
				r.clickhouse("ALTER TABLE lodestone.events DELETE WHERE kafka_topic_id = {topic:UUID} AND kafka_offset = 2 SETTINGS mutations_sync = 2")
			}, []string{"lost      " + views + "2 to 2 (1;", "access link"},
		},
		"rows are gone": {
			func(r *rig) {
				r.clickhouse("ALTER TABLE lodestone.events DELETE WHERE kafka_topic_id = {topic:UUID} AND kafka_offset < 2 SETTINGS mutations_sync = 2")
			}, []string{"lost      " + views + "0 to 1 (2;", "access link"},
		},
		"a row is doubled":           {func(r *rig) { r.copyRow("4", "4") }, []string{"doubled   " + views + "4 to 4 (1;"}},
		"a repeat is stored":         {func(r *rig) { r.copyRow("1", "3") }, []string{"repeated  " + views + "3 to 3 (1;"}},
		"rows beyond the log":        {func(r *rig) { r.copyRow("1", "9") }, []string{"foreign   " + views + "8 to 9 (2;"}},
		"a counter of a link":        {func(r *rig) { r.exec("UPDATE access_links SET view_count = 1 WHERE id = $1", r.link) }, []string{"has 1 views", "submission"}},
		"a date of a link":           {func(r *rig) { r.exec("UPDATE access_links SET last_viewed_at = now() WHERE id = $1", r.link) }, []string{"access link", "submission"}},
		"a link without events":      {func(r *rig) { r.exec("UPDATE access_links SET view_count = 7 WHERE id = $1", r.other) }, []string{"0 views", "submission"}},
		"a generic link":             {func(r *rig) { r.exec("UPDATE generic_links SET view_count = 3") }, []string{"generic link"}},
		"a submission":               {func(r *rig) { r.exec("UPDATE submissions SET view_count = 0, viewed = false") }, []string{"submission"}},
		"a submission without links": {func(r *rig) { r.exec("DELETE FROM access_links WHERE id IN ($1, $2)", r.link, r.other) }, []string{"submission"}},
		"a deleted link is right": {func(r *rig) {
			r.exec("DELETE FROM access_links WHERE id = $1", r.link)
			r.exec("UPDATE submissions SET view_count = 0, viewed = false, first_viewed_at = NULL, last_viewed_at = NULL")
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.fill()
			c.harm(r)
			r.requireDifferences(Span{}, c.want...)
		})
	}
}

func TestDifferencesAtTheBordersOfChunksAreFound(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const n = 2*chunkRecords + 5_000
	r.produce(event.Topic, r.events(n)...)
	r.consume()
	r.requireDifferences(Span{})
	r.clickhouse("ALTER TABLE lodestone.events DELETE WHERE kafka_topic_id = {topic:UUID} AND kafka_offset IN (0, 19999, 20000, 44999) SETTINGS mutations_sync = 2")
	at := "lost      lodestone.events partition 0, offsets "
	r.requireDifferences(Span{}, at+"0 to 0 (1;", at+"19999 to 20000 (2;", at+"44999 to 44999 (1;", "access link")
}

func TestADeadLetterThatIsMissingIsALoss(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fill()
	ranges, err := kafka.Ranges(t.Context(), r.client, event.DeadLetterTopic)
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
	r.exec("UPDATE access_links SET view_count = 2 WHERE id = $1", r.link)
	r.exec("UPDATE submissions SET view_count = 2")
	r.requireDifferences(Span{Since: now.Add(-90 * time.Minute)})
	r.requireDifferences(Span{Until: now.Add(-150 * time.Minute)})
	r.requireDifferences(Span{Since: now.Add(-150 * time.Minute), Until: now.Add(-90 * time.Minute)}, "lost      lodestone.events partition 0, offsets 1 to 1")
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
	w := NewWatch(Config{Interval: time.Second, Offsets: 1000}, "g", r.kafka, r.store, r.pool, slog.New(slog.DiscardHandler), metrics)
	require.NoError(t, w.round(t.Context()))
	require.Zero(t, gauge(t, metrics, Lost))

	r.produce(event.Topic, r.events(10)...)
	r.consume()
	r.clickhouse("ALTER TABLE lodestone.events DELETE WHERE kafka_topic_id = {topic:UUID} AND kafka_offset = 12 SETTINGS mutations_sync = 2")
	r.copyRow("13", "13")
	require.NoError(t, w.round(t.Context()))
	require.InDelta(t, 1, gauge(t, metrics, Lost), 0)
	require.InDelta(t, 1, gauge(t, metrics, Doubled), 0)
	require.InDelta(t, 1, gauge(t, metrics, Counter), 0)

	// It stays until it is mended, although the next rounds look at later records.
	r.produce(event.Topic, r.events(10)...)
	r.consume()
	require.NoError(t, w.round(t.Context()))
	require.InDelta(t, 1, gauge(t, metrics, Lost), 0)
	require.InDelta(t, 1, gauge(t, metrics, Doubled), 0)
	require.Zero(t, gauge(t, metrics, Counter), "the counters followed the rows")
	r.clickhouse("ALTER TABLE lodestone.events DELETE WHERE kafka_topic_id = {topic:UUID} AND kafka_offset IN (12, 13) SETTINGS mutations_sync = 2")
	r.copyRow("14", "12")
	r.copyRow("14", "13")
	require.NoError(t, w.round(t.Context()))
	require.Zero(t, gauge(t, metrics, Lost))
	require.Zero(t, gauge(t, metrics, Doubled))
}

// The window of repeats reaches back beyond where the round begins: a repeat that was stored is found
// although its event was judged by an earlier one, and stays found.
func TestTheRunningCheckFindsARepeatOfAnEventBeforeItsRange(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	values := r.events(3)
	r.produce(event.Topic, values...)
	r.consume()
	metrics := prometheus.NewRegistry()
	w := NewWatch(Config{Interval: time.Second, Offsets: 1000}, "g", r.kafka, r.store, r.pool, slog.New(slog.DiscardHandler), metrics)
	require.NoError(t, w.round(t.Context()))
	r.produce(event.Topic, values[0])
	r.consume()
	r.copyRow("0", "3") // as if the consumer had not seen that it repeats
	require.NoError(t, w.round(t.Context()))
	require.InDelta(t, 1, gauge(t, metrics, Repeated), 0)
	r.produce(event.Topic, r.events(3)...)
	r.consume()
	require.NoError(t, w.round(t.Context()))
	require.InDelta(t, 1, gauge(t, metrics, Repeated), 0, "it is there until it is mended")
	r.clickhouse("ALTER TABLE lodestone.events DELETE WHERE kafka_topic_id = {topic:UUID} AND kafka_offset = 3 SETTINGS mutations_sync = 2")
	require.NoError(t, w.round(t.Context()))
	require.Zero(t, gauge(t, metrics, Repeated))
}

func TestTheRunningCheckRunsByItself(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fill()
	r.copyRow("0", "0")
	metrics := prometheus.NewRegistry()
	w := NewWatch(Config{Interval: time.Second, Offsets: 1000}, "g", r.kafka, r.store, r.pool, slog.New(slog.DiscardHandler), metrics)
	require.NoError(t, w.Start(t.Context()))
	require.Eventually(t, func() bool { return gauge(t, metrics, Doubled) == 1 }, patience, 50*time.Millisecond)
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
