package spool

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	fsync    prometheus.Histogram
	failures prometheus.Counter // groups that the disk refused
	full     prometheus.Counter // records refused for lack of space
	spooled  prometheus.Counter
	drained  prometheus.Counter
	unread   prometheus.Counter // tries to read that the disk refused
	damage   prometheus.Counter
	open     prometheus.Gauge
	drops    prometheus.Counter // records that were acknowledged and are gone
	expired  prometheus.Counter // records that were acknowledged and are too old
}

// gauges are the values that are read on request.
type gauges struct {
	bytes, records, damaged, oldest func() float64
}

func newMetrics(r prometheus.Registerer, g gauges) (*metrics, error) {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	fn := func(name, help string, f func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, f)
	}
	m := &metrics{
		fsync: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "lodestone_spool_fsync_seconds", Help: "Time to write and sync one group of requests.",
			Buckets: prometheus.ExponentialBucketsRange(0.0001, 4, 14),
		}),
		failures: counter("lodestone_spool_write_failures_total",
			"Groups of requests that the disk could not store; they were answered with 503."),
		full: counter("lodestone_spool_refused_full_records_total",
			"Records refused with 503 because the spool was full."),
		spooled: counter("lodestone_spool_spooled_records_total", "Records stored durably in the spool."),
		drained: counter("lodestone_spool_drained_records_total", "Spooled records that Kafka has acknowledged."),
		unread: counter("lodestone_spool_read_failures_total",
			"Failed reads of the spool's disk. While it rises, nothing is sent and nothing is dropped."),
		damage: counter("lodestone_spool_damage_total",
			"Damaged places found in the spool. If above 0, look into its directory damaged."),
		open: prometheus.NewGauge(prometheus.GaugeOpts{Name: "lodestone_spool_circuit_open",
			Help: "1 while events go to the spool without trying Kafka first."}),
		drops: counter("lodestone_spool_drops_total",
			"Acknowledged records that the disk lost (a lower bound: an unreadable place counts as one). If not 0, look into the spool's directory damaged."),
		expired: counter("lodestone_spool_expired_records_total",
			"Acknowledged records dropped because Kafka had not accepted them within --spool-max-age. Any value but 0 means lost events."),
	}
	err := errors.Join(r.Register(m.fsync), r.Register(m.failures), r.Register(m.full),
		r.Register(m.spooled), r.Register(m.drained),
		r.Register(m.unread), r.Register(m.damage), r.Register(m.open), r.Register(m.drops), r.Register(m.expired),
		r.Register(fn("lodestone_spool_bytes", "Bytes of the spool on disk.", g.bytes)),
		r.Register(fn("lodestone_spool_records", "Spooled records that Kafka has not acknowledged yet.", g.records)),
		r.Register(fn("lodestone_spool_damaged_segments", "Segments in the directory damaged, whose intact records were sent.",
			g.damaged)),
		r.Register(fn("lodestone_spool_oldest_seconds", "Age of the oldest record in the spool; 0 if there is none.",
			g.oldest)))
	if err != nil {
		return nil, fmt.Errorf("register spool metrics: %w", err)
	}
	return m, nil
}
