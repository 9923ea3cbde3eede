package producer

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	full           prometheus.Counter
	unacknowledged prometheus.Counter
}

func newMetrics(r prometheus.Registerer, records, bytes *atomic.Int64) (metrics, error) {
	failures := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "lodestone_producer_failed_records_total",
		Help: "Records not acknowledged, by reason: full (too many were waiting) or unacknowledged (given up).",
	}, []string{"reason"})
	gauge := func(name, help string, v *atomic.Int64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help},
			func() float64 { return float64(v.Load()) })
	}
	err := errors.Join(
		r.Register(failures),
		r.Register(gauge("lodestone_producer_buffered_records", "Records waiting for Kafka.", records)),
		r.Register(gauge("lodestone_producer_buffered_bytes", "Bytes of records waiting for Kafka.", bytes)),
	)
	if err != nil {
		return metrics{}, fmt.Errorf("register producer metrics: %w", err)
	}
	return metrics{failures.WithLabelValues("full"), failures.WithLabelValues("unacknowledged")}, nil
}
