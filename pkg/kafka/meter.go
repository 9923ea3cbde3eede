package kafka

import (
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Meter counts the connections and requests of the clients of a process. It is a hook of franz-go,
// and safe for concurrent use. The library's own plugin for Prometheus takes one client per
// registry; `lodestone up` has several.
type Meter struct {
	connects *prometheus.CounterVec
	requests *prometheus.HistogramVec
	errors   *prometheus.CounterVec
}

var (
	_ kgo.HookBrokerConnect = (*Meter)(nil)
	_ kgo.HookBrokerE2E     = (*Meter)(nil)
)

// NewMeter returns a Meter with its metrics registered.
func NewMeter(r prometheus.Registerer) *Meter {
	m := &Meter{
		connects: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "lodestone_kafka_connects_total",
			Help: "Connection attempts to Kafka brokers, by outcome: connected or failed.",
		}, []string{"outcome"}),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "lodestone_kafka_request_seconds",
			Help:    "Time of a request to Kafka until its answer: produce, fetch (which waits for records), or other.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 8),
		}, []string{"request"}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "lodestone_kafka_request_errors_total",
			Help: "Requests to Kafka without an answer, because the connection broke or timed out.",
		}, []string{"request"}),
	}
	for _, outcome := range []string{"connected", "failed"} {
		m.connects.WithLabelValues(outcome)
	}
	for _, request := range []string{"produce", "fetch", "other"} {
		m.requests.WithLabelValues(request)
		m.errors.WithLabelValues(request)
	}
	r.MustRegister(m.connects, m.requests, m.errors)
	return m
}

// OnBrokerConnect implements kgo.HookBrokerConnect.
func (m *Meter) OnBrokerConnect(_ kgo.BrokerMetadata, _ time.Duration, _ net.Conn, err error) {
	if err != nil {
		m.connects.WithLabelValues("failed").Inc()
		return
	}
	m.connects.WithLabelValues("connected").Inc()
}

// OnBrokerE2E implements kgo.HookBrokerE2E.
func (m *Meter) OnBrokerE2E(_ kgo.BrokerMetadata, key int16, e2e kgo.BrokerE2E) {
	request := "other"
	switch key {
	case kmsg.Produce.Int16():
		request = "produce"
	case kmsg.Fetch.Int16():
		request = "fetch"
	}
	if e2e.Err() != nil {
		m.errors.WithLabelValues(request).Inc()
		return
	}
	m.requests.WithLabelValues(request).Observe(e2e.DurationE2E().Seconds())
}
