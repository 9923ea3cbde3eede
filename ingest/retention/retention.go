// Package retention lets old events go, a whole month at a time: dropping a partition rewrites
// nothing. What it must not do is make counters of links fall, which are computed from the rows, or
// make rows that are gone look lost. So before a month is dropped, the views in it are written down by
// link (lodestone.expired_views), which counters add to those of the rows; and no month is dropped
// while Kafka still has a record of it, which a consumer or a check would miss.
//
// How long events are kept is on record in Postgres (Setting), so that no process deletes by a setting of its own.
//
// A step is one month: writing, dropping, done. Each phase is on record before it begins. A step that
// was cut off in the first counts for nothing, and another one is made; one that was cut off in the second
// only has to be finished (Finish), by whoever is next to hold the lock, before anything is counted.
package retention

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
	"lodestone/pkg/service"
)

// Config is the setting of how long events are kept.
type Config struct {
	Months int `name:"retention-months" default:"0" help:"Number of past calendar months, besides the current one, for which events and link views are kept, by the time they happened. Older data is deleted one month at a time. 0 keeps everything. This is the initial value of an installation without a stored value, and takes effect after a day; lodestone retention set changes it later."`
}

// mostMonths is more than any clock of a computer means.
const mostMonths = 1200

const allowedMonths = "give a number of months from 1 to 1200, or 0 to keep everything"

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	if c.Months < 0 || c.Months > mostMonths {
		return config.Invalid("--retention-months", "is out of range", allowedMonths)
	}
	return nil
}

// lookEvery is the time between two looks for months that are due.
const lookEvery = time.Hour

// Keeper is a service.Service. Any number may run: a lock in Postgres lets one work at a time.
type Keeper struct {
	*service.Loop
	cfg   Config
	kafka kafka.Config
	store clickhouse.Config
	pool  *postgres.Pool
	log   *slog.Logger

	dropped prometheus.Counter
	waiting prometheus.Gauge
	differs prometheus.Gauge
	errors  prometheus.Counter

	warned     bool   // of a setting that differs from the record, or that waits
	beforeDrop func() // nil but in tests: called when nothing but dropping is left of a step
}

// New returns the service. While everything is kept it only reads the setting on record.
func New(c Config, k kafka.Config, s clickhouse.Config, pool *postgres.Pool, log *slog.Logger, r prometheus.Registerer) *Keeper {
	keeper := &Keeper{
		cfg: c, kafka: k, store: s, pool: pool, log: log,
		dropped: prometheus.NewCounter(prometheus.CounterOpts{Name: "lodestone_retention_months_total", Help: "Months of events and link views that were deleted for their age."}),
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{Name: "lodestone_retention_waiting_months", Help: "Months that are due, but whose records Kafka still has."}),
		differs: prometheus.NewGauge(prometheus.GaugeOpts{Name: "lodestone_retention_setting_differs", Help: "1 if this process has another --retention-months than the one on record, which holds."}),
		errors:  prometheus.NewCounter(prometheus.CounterOpts{Name: "lodestone_retention_errors_total", Help: "Attempts to delete old months that failed and are made again."}),
	}
	r.MustRegister(keeper.dropped, keeper.waiting, keeper.differs, keeper.errors)
	keeper.Loop = service.NewLoop("retention", keeper.run)
	return keeper
}

func (k *Keeper) run(ctx context.Context, ready func()) error {
	ready()
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		result, err := k.Expire(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			k.errors.Inc()
			k.log.Warn("cannot delete old events, will try again", "in", lookEvery, "error", err)
		case len(result.Waiting) > 0:
			k.log.Info("months of events are due, but Kafka still has records of them", "months", result.Waiting)
		}
		if len(result.Dropped) > 0 {
			k.log.Info("deleted old events", "months", result.Dropped)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// Result is what one look did, in months as 202611.
type Result struct {
	Dropped []uint32
	Waiting []uint32 // are due, but Kafka still has records of them
}

// Expire deletes the months that are due, the oldest first.
func (k *Keeper) Expire(ctx context.Context) (result Result, err error) {
	s, err := k.setting(ctx)
	if err != nil || s.Months == 0 && s.NextMonths == 0 {
		return Result{}, err
	}
	client, err := kgo.NewClient(k.kafka.Options(k.log)...)
	if err != nil {
		return Result{}, fmt.Errorf("make Kafka client: %w", err)
	}
	defer client.Close()
	conn, err := clickhouse.Open(k.store, 1)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	first, err := k.firstKept(ctx, conn, s)
	if err != nil || first == 0 {
		return Result{}, err
	}
	months, err := monthsBefore(ctx, conn, first)
	if err != nil {
		return Result{}, err
	}
	for _, month := range months {
		dropped, err := k.step(ctx, client, conn, month)
		if err != nil {
			return result, err
		}
		if !dropped {
			result.Waiting = append(result.Waiting, month)
			continue
		}
		k.dropped.Inc()
		result.Dropped = append(result.Dropped, month)
	}
	k.waiting.Set(float64(len(result.Waiting)))
	return result, nil
}

// firstKept returns the oldest month that is kept, and 0 if all are. Deleting is for good, so a clock that is ahead must
// not decide: of those of this machine, of ClickHouse and of Postgres, the one that is behind does.
func (k *Keeper) firstKept(ctx context.Context, conn driver.Conn, s Setting) (uint32, error) {
	now := time.Now()
	theirs, err := clock(ctx, conn)
	if err != nil {
		return 0, err
	}
	if theirs.Before(now) {
		now = theirs
	}
	if err := k.pool.Unscoped().QueryRow(ctx, "SELECT now()").Scan(&theirs); err != nil {
		return 0, fmt.Errorf("read Postgres' clock: %w", err)
	}
	if theirs.Before(now) {
		now = theirs
	}
	now = now.UTC()
	months := s.At(now)
	if months == 0 {
		return 0, nil
	}
	return monthOf(time.Date(now.Year(), now.Month()-time.Month(months), 1, 0, 0, 0, 0, time.UTC)), nil
}

// monthOf returns a month as ClickHouse's toYYYYMM does.
func monthOf(t time.Time) uint32 { return uint32(t.Year()*100 + int(t.Month())) }

// endOf returns the first moment after a month.
func endOf(month uint32) time.Time {
	return time.Date(int(month/100), time.Month(month%100)+1, 1, 0, 0, 0, 0, time.UTC)
}
