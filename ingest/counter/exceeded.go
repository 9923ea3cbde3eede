package counter

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"lodestone/pkg/postgres"
	"lodestone/pkg/service"
	"lodestone/pkg/store"
)

const (
	pollInterval = 5 * time.Second
	pollTimeout  = 2 * time.Second // also the maximum wait of a start
)

// ExceededQuotas knows the accounts that are beyond their plan, as of the last read from Postgres.
// While Postgres is down, the last result stays; before the first read, no account is beyond its
// plan. It is a service.Service.
type ExceededQuotas struct {
	*service.Loop
	pool     *postgres.Pool
	log      *slog.Logger
	interval time.Duration
	known    atomic.Pointer[overageSet]
	accounts prometheus.Gauge
}

// overageSet is never changed, only replaced.
type overageSet struct {
	until    time.Time            // the end of the month
	accounts map[uuid.UUID]string // the message for their senders
}

// NewExceededQuotas returns the service that follows the accounts that are beyond their plan. It
// needs no ClickHouse.
func NewExceededQuotas(d QuotaDeps) (*ExceededQuotas, error) {
	e := &ExceededQuotas{pool: d.Postgres, log: d.Log, interval: pollInterval,
		accounts: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "lodestone_quota_exceeded_accounts",
			Help: "Accounts whose events the collector refuses because they have used this month's quota.",
		})}
	if err := d.Registerer.Register(e.accounts); err != nil {
		return nil, fmt.Errorf("register quota metrics: %w", err)
	}
	e.known.Store(&overageSet{})
	e.Loop = service.NewLoop("accounts beyond their plan", e.run)
	return e, nil
}

// Exceeded returns the message for senders of an account whose events are refused at that time, or
// "". It takes no lock and does no I/O.
func (e *ExceededQuotas) Exceeded(account uuid.UUID, at time.Time) string {
	known := e.known.Load()
	if len(known.accounts) == 0 || !at.Before(known.until) {
		return ""
	}
	return known.accounts[account]
}

func (e *ExceededQuotas) run(ctx context.Context, ready func()) error {
	failing := false
	for {
		err := e.look(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && !failing { // once an outage
			e.log.Warn("cannot read which accounts exceed their plan: using the last list", "error", err)
		}
		failing = err != nil
		ready()
		if err := service.Sleep(ctx, e.interval); err != nil {
			return err
		}
	}
}

func (e *ExceededQuotas) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	rows, err := store.New(e.pool.Unscoped()).AccountsBeyondPlan(ctx)
	if err != nil {
		return wrap("read accounts beyond their plan", err)
	}
	fresh := &overageSet{accounts: map[uuid.UUID]string{}}
	for _, r := range rows {
		fresh.until = r.Month.AddDate(0, 1, 0)
		fresh.accounts[r.AccountID] = fmt.Sprintf(
			"the plan %s allows %d events a month, which are used up; more are accepted from %s on",
			r.Plan, r.EventLimit, fresh.until.Format(time.RFC3339))
	}
	e.known.Store(fresh)
	e.accounts.Set(float64(len(fresh.accounts)))
	return nil
}
