package consumer

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"lodestone/ingest/stream"
)

type metrics struct {
	rows        prometheus.Counter
	batches     prometheus.Counter
	repeats     prometheus.Counter
	deadLetters *prometheus.CounterVec
	retries     prometheus.Counter
	recovered   prometheus.Counter
	gaps        prometheus.Counter
	lost        prometheus.Counter
	insert      prometheus.Histogram
	freshness   prometheus.Histogram
}

// newMetrics registers the metrics; state is asked for what the gauges show.
func newMetrics(r prometheus.Registerer, state func() status) *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "lodestone_consumer_" + name, Help: help})
	}
	gauge := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "lodestone_consumer_" + name, Help: help}, value)
	}
	m := &metrics{
		rows:    counter("rows_total", "Rows stored in ClickHouse."),
		batches: counter("batches_total", "Batches finished."),
		repeats: counter("repeats_total", "Records dropped because they repeat an event."),
		deadLetters: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "lodestone_consumer_dead_letters_total", Help: "Records that could not become rows, by reason.",
		}, []string{"reason"}),
		retries:   counter("insert_retries_total", "Inserts tried again after an error."),
		recovered: counter("rows_found_stored_total", "Rows of unfinished batches that were found to be stored already."),
		gaps:      counter("offset_gaps_total", "Jumps in the offsets read from Kafka."),
		lost: counter("lost_records_total",
			"Records that Kafka deleted before they were stored. Any value but 0 means lost events."),
		insert: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "lodestone_consumer_insert_seconds", Help: "Time of one successful insert.",
			Buckets: prometheus.ExponentialBuckets(0.002, 2, 14),
		}),
		freshness: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "lodestone_consumer_freshness_seconds",
			Help:    "Time from the collector to the table, of the oldest row of each batch.",
			Buckets: prometheus.ExponentialBuckets(0.05, 2, 16),
		}),
	}
	for _, reason := range []string{stream.ReasonMalformed, stream.ReasonInvalid} {
		// From the start: an alarm on the increase misses a first value of 1.
		m.deadLetters.WithLabelValues(reason)
	}
	for _, reason := range []string{haltedLog, haltedNewer} {
		r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name:        "lodestone_consumer_halted_partitions",
			Help:        "Partitions that have stopped until an operator acts, by reason: see the log.",
			ConstLabels: prometheus.Labels{"reason": reason},
		}, func() float64 { return float64(state().halted[reason]) }))
	}
	r.MustRegister(m.rows, m.batches, m.repeats, m.deadLetters, m.retries, m.recovered, m.gaps,
		m.lost, m.insert, m.freshness,
		gauge("partitions", "Partitions that this consumer works on.",
			func() float64 { return float64(state().partitions) }),
		gauge("blocked_partitions", "Partitions that have stopped and need attention: see the log.",
			func() float64 { return float64(state().blocked) }),
		gauge("joined", "1 while this consumer is a member of its group and Kafka answers. 0: it waits for Kafka, or until it can write to ClickHouse.",
			func() float64 {
				if state().joined {
					return 1
				}
				return 0
			}),
		gauge("lag_records", "Records in Kafka that are not stored yet, over this consumer's partitions.",
			func() float64 { return float64(state().lag) }),
		gauge("lag_seconds", "How long the oldest fetched record has waited to be stored.",
			func() float64 { return state().age.Seconds() }),
	)
	return m
}

// status is the state of a consumer at a moment.
type status struct {
	partitions int
	blocked    int
	halted     map[string]int // of the blocked ones, by reason
	joined     bool           // a member of the group
	lag        int64          // records
	age        time.Duration
}
