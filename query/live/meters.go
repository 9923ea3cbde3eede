package live

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// meters are the metrics of streams.
type meters struct {
	listeners prometheus.Gauge
	messages  prometheus.Counter
	refused   *prometheus.CounterVec
	errors    prometheus.Counter
	lag       prometheus.Gauge
}

func newMeters(r prometheus.Registerer) meters {
	m := meters{
		listeners: prometheus.NewGauge(prometheus.GaugeOpts{Name: "lodestone_live_streams",
			Help: "Open live streams of events."}),
		messages: prometheus.NewCounter(prometheus.CounterOpts{Name: "lodestone_live_messages_total",
			Help: "Events sent to live streams."}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "lodestone_live_refused_total",
			Help: "Live streams refused because the account or the process had reached its limit."},
			[]string{"reason"}),
		errors: prometheus.NewCounter(prometheus.CounterOpts{Name: "lodestone_live_errors_total",
			Help: "Failed reads of new events for live streams; they are retried."}),
		lag: prometheus.NewGauge(prometheus.GaugeOpts{Name: "lodestone_live_lag_seconds",
			Help: "Age of the newest event sent to live streams, as of the last read; 0 without streams."}),
	}
	r.MustRegister(m.listeners, m.messages, m.refused, m.errors, m.lag)
	m.refused.WithLabelValues("account")
	m.refused.WithLabelValues("process")
	return m
}

// refuse counts a stream that was refused with an error of Listen.
func (m meters) refuse(err error) {
	reason := "process"
	if errors.Is(err, ErrAccount) {
		reason = "account"
	}
	m.refused.WithLabelValues(reason).Inc()
}

// measure notes how far the poll is behind, and counts one that failed.
func (l *Live) measure(err error) {
	if err != nil {
		l.meters.errors.Inc()
	}
	if l.polledTo.IsZero() {
		l.meters.lag.Set(0)
		return
	}
	reached := l.clockAt.Add(l.polledTo.Sub(l.clock)) // by the clock of this process
	l.meters.lag.Set(max(0, time.Since(reached)).Seconds())
}
