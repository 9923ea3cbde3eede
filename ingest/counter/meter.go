package counter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/postgres"
	"lodestone/pkg/service"
	"lodestone/pkg/store"
)

// meterLock is the key of the advisory lock that one QuotaMeter holds while it counts.
const meterLock = 0x6c6f6465_71756f74 // "lodequot"

// countTimeout bounds one count.
const countTimeout = time.Minute

// QuotaMeter is a service.Service. Any number may run: a lock in Postgres admits one count at a
// time, and the others skip theirs.
type QuotaMeter struct {
	*service.Loop
	cfg    QuotaConfig
	store  clickhouse.Config
	pool   *postgres.Pool
	log    *slog.Logger
	errors prometheus.Counter
}

// QuotaDeps are the dependencies of the service; all are required.
type QuotaDeps struct {
	ClickHouse clickhouse.Config
	Postgres   *postgres.Pool
	Log        *slog.Logger
	Registerer prometheus.Registerer
}

// NewQuotaMeter returns the service that counts the events of each account.
func NewQuotaMeter(c QuotaConfig, d QuotaDeps) (*QuotaMeter, error) {
	m := &QuotaMeter{cfg: c, store: d.ClickHouse, pool: d.Postgres, log: d.Log,
		errors: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "lodestone_quota_errors_total", Help: "Failed counts of monthly events; they are retried.",
		})}
	if err := d.Registerer.Register(m.errors); err != nil {
		return nil, fmt.Errorf("register quota metrics: %w", err)
	}
	m.Loop = service.NewLoop("events a month", m.run)
	return m, nil
}

func (m *QuotaMeter) run(ctx context.Context, ready func()) (err error) {
	conn, err := clickhouse.Open(m.store, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	ready()
	failing := false
	for {
		err := m.count(ctx, conn)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			m.errors.Inc()
			if !failing { // once an outage
				m.log.Warn("cannot count the events of accounts, will try again", "error", err)
			}
		}
		failing = err != nil
		if service.Sleep(ctx, m.cfg.Interval) != nil {
			return nil
		}
	}
}

// count writes the number of events of each account in this month, unless another process has just
// done so.
func (m *QuotaMeter) count(ctx context.Context, conn driver.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, countTimeout)
	defer cancel()
	return m.pool.Transaction(ctx, func(tx pgx.Tx) error {
		q := store.New(tx)
		if mine, err := q.TryLock(ctx, meterLock); err != nil || !mine {
			return wrap("take the lock of the quotas", err)
		}
		round, err := q.UsageRound(ctx, m.cfg.Interval.Seconds()*0.9)
		if err != nil || !round.Due {
			return wrap("read when events were counted", err)
		}
		ids, counts, err := stored(ctx, conn, round.Month)
		if err != nil {
			return err
		}
		if err := q.SetUsage(ctx, store.SetUsageParams{
			Month: round.Month, IDs: ids, Counts: counts, Free: m.cfg.Plans.Free.EventsPerMonth,
			Pro: m.cfg.Plans.Pro.EventsPerMonth, Team: m.cfg.Plans.Team.EventsPerMonth,
		}); err != nil {
			return wrap("write the events of accounts", err)
		}
		return wrap("write when events were counted", q.EndUsageRound(ctx))
	})
}

// stored queries ClickHouse for the events of a month. It holds a count for each account and day.
func stored(ctx context.Context, conn driver.Conn, month time.Time) (ids []uuid.UUID, counts []int64, err error) {
	rows, err := conn.Query(ctx, `
SELECT account_id, toInt64(count()) FROM lodestone.events
WHERE toDate(created_at) >= toDate(?) AND toDate(created_at) < toDate(?) GROUP BY account_id`,
		month.Format(time.DateOnly), month.AddDate(0, 1, 0).Format(time.DateOnly))
	if err != nil {
		return nil, nil, wrap("count events", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var id uuid.UUID
		var n int64
		if err := rows.Scan(&id, &n); err != nil {
			return nil, nil, wrap("count events", err)
		}
		ids, counts = append(ids, id), append(counts, n)
	}
	return ids, counts, wrap("count events", rows.Err())
}

func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}
