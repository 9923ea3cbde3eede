package webhook

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"lodestone/pkg/dialguard"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
	"lodestone/pkg/token"
)

// Deps are the dependencies of webhooks.
type Deps struct {
	Postgres   *postgres.Pool
	Tokens     *token.Ring // seals the secrets of endpoints
	Log        *slog.Logger
	Registerer prometheus.Registerer // nil: no metrics
	Grace      time.Duration         // for messages in flight when the process stops
	Notifier   Notifier              // nil: owners are not notified
	Now        func() time.Time      // nil: time.Now; deliveries are due by it
	Resolver   *net.Resolver         // of the hosts of endpoints; nil: the system's
}

// Notifier notifies the owner of an endpoint once the transaction commits. It is implemented by
// notice.Notices.
type Notifier interface {
	// WebhookDisabled is called once each time that an endpoint is disabled because it failed. gone is
	// the status by which it wants no more messages, or 0.
	WebhookDisabled(ctx context.Context, tx pgx.Tx, endpoint store.WebhookEndpoint, gone int) error
}

// Webhooks serves the endpoints of accounts, and makes the Deliverer that sends to them. It is safe
// for concurrent use.
type Webhooks struct {
	config    Config
	grace     time.Duration
	plain     bool // http is of use at all
	db        *postgres.Pool
	tokens    *token.Ring
	notifier  Notifier
	log       *slog.Logger
	now       func() time.Time
	guard     *dialguard.Guard
	transport *dialguard.Transport
	client    *http.Client
	metrics   *metrics
}

// New returns the webhooks of a database.
func New(c Config, d Deps) (*Webhooks, error) {
	networks, err := c.networks()
	if err != nil {
		return nil, fmt.Errorf("make webhooks: %w", err)
	}
	if d.Now == nil {
		d.Now = time.Now
	}
	guard := dialguard.New(networks...)
	transport := dialguard.NewTransport(guard, d.Resolver)
	return &Webhooks{
		config: c, grace: d.Grace, plain: len(networks) > 0, db: d.Postgres, tokens: d.Tokens, notifier: d.Notifier,
		log: d.Log, now: d.Now, guard: guard, transport: transport, metrics: newMetrics(d.Registerer),
		client: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // a redirect is an answer like any other, and no success
		}},
	}, nil
}

// Close closes the connections that are kept for the next message. No delivery may be in flight.
func (w *Webhooks) Close() { w.transport.CloseIdleConnections() }

// metrics are those of delivering.
type metrics struct {
	attempts *prometheus.CounterVec
	took     prometheus.Histogram
	disabled prometheus.Counter
	errors   prometheus.Counter
}

func newMetrics(r prometheus.Registerer) *metrics {
	m := &metrics{
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "lodestone_webhook_attempts_total",
			Help: "Messages sent to webhooks, by result."}, []string{"result"}),
		took: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "lodestone_webhook_attempt_seconds",
			Help: "Response time of webhooks.", Buckets: []float64{.01, .03, .1, .3, 1, 3, 10, 30}}),
		disabled: prometheus.NewCounter(prometheus.CounterOpts{Name: "lodestone_webhook_disabled_total",
			Help: "Webhooks disabled after repeated failures."}),
		errors: prometheus.NewCounter(prometheus.CounterOpts{Name: "lodestone_webhook_errors_total",
			Help: "Failed reads of pending messages and failed writes of results."}),
	}
	for _, result := range []string{resultDelivered, resultFailed} {
		m.attempts.WithLabelValues(result)
	}
	if r != nil {
		r.MustRegister(m.attempts, m.took, m.disabled, m.errors)
	}
	return m
}

const (
	resultDelivered = "delivered"
	resultFailed    = "failed"
)
