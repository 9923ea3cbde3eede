package quota

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
)

const (
	pollInterval = 5 * time.Second
	pollTimeout  = 2 * time.Second // also the maximum wait of a start
)

// Exceeded knows the accounts that are beyond their plan, as of the last read from Postgres. While Postgres is down,
// the last result stays; before the first read, no account is beyond its plan. It is a service.Service.
type Exceeded struct {
	*service.Loop
	pool     *postgres.Pool
	log      *slog.Logger
	interval time.Duration
	known    atomic.Pointer[exceeded]
	accounts prometheus.Gauge
}

// exceeded is never changed, only replaced.
type exceeded struct {
	until    time.Time            // the end of the month
	accounts map[uuid.UUID]string // the message for their senders
}

// NewExceeded returns the service that follows the accounts that are beyond their plan.
func NewExceeded(pool *postgres.Pool, log *slog.Logger, r prometheus.Registerer) (*Exceeded, error) {
	e := &Exceeded{pool: pool, log: log, interval: pollInterval, accounts: prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "lodestone_quota_exceeded_accounts", Help: "Accounts whose events the collector refuses, since they have used up those of their plan this month.",
	})}
	if err := r.Register(e.accounts); err != nil {
		return nil, fmt.Errorf("register quota metrics: %w", err)
	}
	e.known.Store(&exceeded{})
	e.Loop = service.NewLoop("accounts beyond their plan", e.run)
	return e, nil
}

// Exceeded returns the message for senders of an account whose events are refused at that time, or "". It takes no lock
// and does no I/O.
func (e *Exceeded) Exceeded(account uuid.UUID, at time.Time) string {
	known := e.known.Load()
	if len(known.accounts) == 0 || !at.Before(known.until) {
		return ""
	}
	return known.accounts[account]
}

func (e *Exceeded) run(ctx context.Context, ready func()) error {
	failing := false
	for {
		err := e.look(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && !failing { // once an outage
			e.log.Warn("cannot read which accounts are beyond their plan: going on with what was known", "error", err)
		}
		failing = err != nil
		ready()
		if err := service.Sleep(ctx, e.interval); err != nil {
			return err
		}
	}
}

func (e *Exceeded) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	const query = `
SELECT u.account_id, a.plan, u.event_limit, u.month FROM event_usage u JOIN accounts a ON a.id = u.account_id
WHERE u.month = date_trunc('month', now() AT TIME ZONE 'UTC')::date AND u.events >= u.event_limit`
	rows, err := e.pool.Unscoped().Query(ctx, query)
	if err != nil {
		return wrap("read accounts beyond their plan", err)
	}
	defer rows.Close()
	fresh := &exceeded{accounts: map[uuid.UUID]string{}}
	for rows.Next() {
		var (
			account uuid.UUID
			plan    string
			limit   int64
			month   time.Time
		)
		if err := rows.Scan(&account, &plan, &limit, &month); err != nil {
			return wrap("read accounts beyond their plan", err)
		}
		fresh.until = month.AddDate(0, 1, 0)
		fresh.accounts[account] = fmt.Sprintf("the plan %s allows %d events a month, which are used up; more are accepted from %s on",
			plan, limit, fresh.until.Format(time.RFC3339))
	}
	if err := rows.Err(); err != nil {
		return wrap("read accounts beyond their plan", err)
	}
	e.known.Store(fresh)
	e.accounts.Set(float64(len(fresh.accounts)))
	return nil
}
