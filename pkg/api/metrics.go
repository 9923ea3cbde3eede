package api

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	duration *prometheus.HistogramVec
}

func newMetrics(to prometheus.Registerer) *metrics {
	m := &metrics{duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "lodestone_http_request_duration_seconds",
		Help:    "Time from a request's arrival to the end of its answer.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 60},
	}, []string{"method", "route", "status"})}
	if to != nil {
		to.MustRegister(m.duration)
	}
	return m
}

func (m *metrics) observe(method, route string, status int, took time.Duration) {
	m.duration.WithLabelValues(methodLabel(method), route, strconv.Itoa(status)).Observe(took.Seconds())
}

// methodLabel keeps a client from inventing values of the label.
func methodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	default:
		return "other"
	}
}
