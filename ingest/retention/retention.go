// Package retention deletes old events, one calendar month at a time: dropping a partition rewrites
// no data. It must neither decrease counters of links, which are computed from the rows, nor make
// deleted rows look lost. So before a month is dropped, its views are stored by link
// (lodestone.expired_views), and counters add them to those of the rows; and no month is dropped
// while Kafka still has a record of it, which a consumer or a check would miss.
//
// The retention time is stored in Postgres (Setting), so that no process deletes by a setting of
// its own.
//
// A step is one month: writing, dropping, done. Each phase is recorded before it begins. The first
// phase may take long: it writes down a bounded number of rows at a time, and its progress is on
// record in Postgres, so that a step that was interrupted goes on there. It has no effect before
// the second phase. One that was interrupted in the second phase only has to be finished (Finish),
// before anything is counted from the history.
package retention

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
	"lodestone/pkg/service"
	"lodestone/pkg/store"
)

// Config is the setting of the retention time.
type Config struct {
	Months int `name:"retention-months" default:"0" help:"Number of past calendar months, besides the current one, for which events and link views are kept, by the time they happened. Older data is deleted one month at a time. 0 keeps everything. This is the initial value of an installation without a stored value, and takes effect after a day; lodestone retention set changes it later."`
}

// maxMonths is more than any computer's clock shows.
const maxMonths = 1200

const allowedMonths = "give a number of months from 1 to 1200, or 0 to keep everything"

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	if c.Months < 0 || c.Months > maxMonths {
		return config.Invalid("--retention-months", "is out of range", allowedMonths)
	}
	return nil
}

// lookEvery is the time between two checks for months that are due.
const lookEvery = time.Hour

// Job is a service.Service. Any number may run: a lock in Postgres admits one at a time.
type Job struct {
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
	rangeRows  uint64 // how many rows are written down at a time
	wrote      func() // nil but in tests: called when rows were written down
	beforeDrop func() // nil but in tests: called when nothing but dropping is left of a step
}

// Deps are the dependencies of the service; all are required.
type Deps struct {
	Kafka      kafka.Config
	ClickHouse clickhouse.Config
	Postgres   *postgres.Pool
	Log        *slog.Logger
	Registerer prometheus.Registerer
}

// New returns the service. While everything is retained it only reads the setting in Postgres.
func New(c Config, d Deps) *Job {
	job := &Job{
		cfg: c, kafka: d.Kafka, store: d.ClickHouse, pool: d.Postgres, log: d.Log, rangeRows: rangeRows,
		dropped: prometheus.NewCounter(prometheus.CounterOpts{Name: "lodestone_retention_months_total",
			Help: "Months of events and link views deleted by retention."}),
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{Name: "lodestone_retention_waiting_months",
			Help: "Months due for deletion whose records are still in Kafka."}),
		differs: prometheus.NewGauge(prometheus.GaugeOpts{Name: "lodestone_retention_setting_differs",
			Help: "1 if this process's --retention-months differs from the recorded one, which applies."}),
		errors: prometheus.NewCounter(prometheus.CounterOpts{Name: "lodestone_retention_errors_total",
			Help: "Failed attempts to delete old months; they are retried."}),
	}
	d.Registerer.MustRegister(job.dropped, job.waiting, job.differs, job.errors)
	job.Loop = service.NewLoop("retention", job.run)
	return job
}

func (j *Job) run(ctx context.Context, ready func()) error {
	ready()
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		result, err := j.Expire(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			j.errors.Inc()
			j.log.Warn("cannot delete old events, will try again", "retry_in", lookEvery, "error", err)
		case len(result.Waiting) > 0:
			j.log.Info("months of events are due for deletion, but Kafka still has their records", "months", result.Waiting)
		}
		if len(result.Dropped) > 0 {
			j.log.Info("deleted old events", "months", result.Dropped)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// Result is the result of one pass, with months as 202611.
type Result struct {
	Dropped []uint32
	Waiting []uint32 // are due, but Kafka still has records of them
}

// Expire deletes the months that are due, the oldest first.
func (j *Job) Expire(ctx context.Context) (result Result, err error) {
	s, err := j.setting(ctx)
	if err != nil || s.Months == 0 && s.NextMonths == 0 {
		return Result{}, err
	}
	client, err := kgo.NewClient(j.kafka.Options(j.log)...)
	if err != nil {
		return Result{}, fmt.Errorf("make Kafka client: %w", err)
	}
	defer client.Close()
	conn, err := clickhouse.Open(j.store, 1)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	// Each shard has steps of its own: views that left with its rows are stored beside them.
	err = clickhouse.EachShard(conn,
		func(shard driver.Conn) error { return j.expire(ctx, client, conn, shard, s, &result) })
	if err != nil {
		return result, err
	}
	for _, months := range []*[]uint32{&result.Dropped, &result.Waiting} {
		slices.Sort(*months)
		*months = slices.Compact(*months)
	}
	j.waiting.Set(float64(len(result.Waiting)))
	if n := len(result.Dropped); n > 0 && len(result.Waiting) == 0 {
		if err := store.New(j.pool.Unscoped()).NoteExpiry(ctx, int32(result.Dropped[n-1])); err != nil {
			return result, fmt.Errorf("note that sessions expire: %w", err)
		}
	}
	return result, j.expireSessions(ctx)
}

// expire deletes the months of a shard that are due.
func (j *Job) expire(ctx context.Context, client *kgo.Client, all, conn driver.Conn, s Setting, result *Result) error {
	first, err := j.firstKept(ctx, conn, s)
	if err != nil || first == 0 {
		return err
	}
	months, err := monthsBefore(ctx, conn, first)
	if err != nil {
		return err
	}
	for i, month := range months {
		dropped, err := j.step(ctx, client, all, conn, month)
		if err != nil {
			return err
		}
		if !dropped { // sessions may go on in the months after, which therefore stay as well
			result.Waiting = append(result.Waiting, months[i:]...)
			break
		}
		j.dropped.Inc()
		result.Dropped = append(result.Dropped, month)
	}
	return nil
}
