package scope

import (
	"context"
	"errors"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"
)

// meter measures the queries of accounts. nil measures nothing.
type meter struct{ seconds *prometheus.HistogramVec }

// Outcomes of a query, as labels.
const (
	answered    = "answered"
	canceled    = "canceled"    // whoever asked has gone
	unavailable = "unavailable" // ClickHouse did not answer, or not in time
	failed      = "failed"      // for another reason: a limit, a wrong parameter
)

// Watch adds the times of queries and the state of the connections to the metrics. It is called
// once, before the first query.
func (c *ClickHouse) Watch(r prometheus.Registerer) {
	c.meter = &meter{seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "lodestone_query_seconds",
		Help:    "Time of one ClickHouse query for the API, including the wait for a connection, by outcome. A request may need several.",
		Buckets: prometheus.ExponentialBuckets(0.001, 2, 15),
	}, []string{"outcome"})}
	for _, outcome := range []string{answered, canceled, unavailable, failed} {
		c.meter.seconds.WithLabelValues(outcome)
	}
	connections := func(state string, value func() int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name:        "lodestone_query_connections",
			Help:        "Connections to ClickHouse for the API, by state: idle, open (idle ones included), or max.",
			ConstLabels: prometheus.Labels{"state": state},
		}, func() float64 { return float64(value()) })
	}
	r.MustRegister(c.meter.seconds,
		connections("idle", func() int { return c.sum(func(s driver.Stats) int { return s.Idle }) }),
		connections("open", func() int { return c.sum(func(s driver.Stats) int { return s.Open }) }),
		connections("max", func() int { return c.limits.MaxConns * len(c.conns) }))
}

// sum returns the sum over the connections to all copies.
func (c *ClickHouse) sum(of func(driver.Stats) int) (n int) {
	for _, conn := range c.conns {
		n += of(conn.Stats())
	}
	return n
}

// observe notes a query that began at a time and ended in err. asker is the context of whoever
// asked.
func (m *meter) observe(asker context.Context, began time.Time, err error) {
	if m == nil {
		return
	}
	outcome := failed
	switch {
	case err == nil:
		outcome = answered
	case errors.Is(asker.Err(), context.Canceled):
		outcome = canceled
	case IsUnavailable(err):
		outcome = unavailable
	}
	m.seconds.WithLabelValues(outcome).Observe(time.Since(began).Seconds())
}
