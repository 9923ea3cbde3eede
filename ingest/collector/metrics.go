package collector

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// statuses are the answers that the collector gives.
var statuses = [...]int{200, 202, 204, 304, 400, 403, 404, 405, 408, 413, 415, 422, 429, 431, 500, 503}

type metrics struct {
	requests [len(statuses)]prometheus.Counter
	inFlight prometheus.Gauge
	accepted prometheus.Counter
	rejected map[Code]prometheus.Counter
	bots     prometheus.Counter
	unhashed prometheus.Counter
	ack      prometheus.Histogram
	refused  [refusalReasons]prometheus.Counter

	acceptFailures prometheus.Counter
}

// refusalReason is why a request was turned away for the load alone.
type refusalReason int

const (
	refusedRequests refusalReason = iota
	refusedBytes
	refusedViews
	refusalReasons
)

var refusalNames = [refusalReasons]string{"requests", "bytes", "views"}

func newMetrics(r prometheus.Registerer) (*metrics, error) {
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "lodestone_collector_requests_total",
		Help: "Requests answered, by HTTP status.",
	}, []string{"status"})
	rejected := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "lodestone_collector_rejected_events_total",
		Help: "Events refused, by the code in the answer.",
	}, []string{"code"})
	refused := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "lodestone_collector_overload_refusals_total",
		Help: "Requests refused by a limit: too many requests or bytes at once, or too many views from one address.",
	}, []string{"limit"})
	m := &metrics{
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "lodestone_collector_requests_in_flight",
			Help: "Requests in progress.",
		}),
		accepted: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "lodestone_collector_accepted_events_total",
			Help: "Events answered with 202: they are durable.",
		}),
		bots: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "lodestone_collector_bot_events_total",
			Help: "Accepted events of senders that were classified as bots.",
		}),
		unhashed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "lodestone_collector_unhashed_events_total",
			Help: "Accepted events stored without an address hash because the day had no salt.",
		}),
		ack: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "lodestone_collector_ack_seconds",
			Help:    "Time until the events of a request were durable or the request gave up.",
			Buckets: prometheus.ExponentialBucketsRange(0.0005, 8, 15),
		}),
		acceptFailures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "lodestone_collector_accept_failures_total",
			Help: "Connections that had to wait because no file descriptor was free, or --collector-max-connections were open.",
		}),
		rejected: make(map[Code]prometheus.Counter, len(codes)),
	}
	for i, status := range statuses {
		m.requests[i] = requests.WithLabelValues(strconv.Itoa(status))
	}
	for _, code := range codes {
		m.rejected[code] = rejected.WithLabelValues(string(code))
	}
	for reason, name := range refusalNames {
		m.refused[reason] = refused.WithLabelValues(name)
	}
	err := errors.Join(r.Register(refused), r.Register(requests), r.Register(rejected),
		r.Register(m.inFlight), r.Register(m.accepted),
		r.Register(m.bots), r.Register(m.unhashed), r.Register(m.ack), r.Register(m.acceptFailures))
	if err != nil {
		return nil, fmt.Errorf("register collector metrics: %w", err)
	}
	return m, nil
}

func (m *metrics) answered(status int) {
	for i, s := range statuses {
		if s == status {
			m.requests[i].Inc()
			return
		}
	}
}
