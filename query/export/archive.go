package export

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/postgres"
	"lodestone/pkg/service"
	"lodestone/pkg/store"
	"lodestone/query/scope"
)

// ArchiveDeps are the dependencies of an Archive; all are required.
type ArchiveDeps struct {
	ClickHouse clickhouse.Config
	HTTP       string         // HTTP address of the same ClickHouse
	Postgres   *postgres.Pool // stays the caller's
	Log        *slog.Logger
	Registerer prometheus.Registerer
}

// Archive writes the events of every account to a directory or a bucket: a Parquet file for each
// account and UTC day, once, when the day is complete.
//
// A day is the day on which events were stored, not the one on which they happened: after its end,
// and when all inserts that began on it are over (scope.ClickHouse.Settled), nothing can be added
// to it any more, and each event is in the file of one day. A manifest for each account lists its
// files, and is written after them: a run that is killed leaves at most a file that no manifest
// lists, which the next run replaces by one with the same rows.
//
// It is a service.Service. Any number may run: a lock in Postgres admits one at a time.
type Archive struct {
	*service.Loop
	config   ArchiveConfig
	target   Target
	postgres *postgres.Pool
	ch       *scope.ClickHouse
	exports  *Exporter
	log      *slog.Logger
	metrics  *metrics
}

// queryTimeout is the time of the short statements that find out what is to be written.
const queryTimeout = time.Minute

// NewArchive returns an Archive without connecting.
func NewArchive(c ArchiveConfig, d ArchiveDeps) (*Archive, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	target, err := c.target()
	if err != nil {
		return nil, err
	}
	exports, err := New(Config{Max: 1, Timeout: c.Timeout, MemoryBytes: c.MemoryBytes},
		Deps{Copies: scope.One(d.ClickHouse), HTTP: d.HTTP})
	if err != nil {
		return nil, err
	}
	ch, err := scope.Open(d.ClickHouse, scope.Limits{MaxConns: 2, Timeout: queryTimeout, MemoryBytes: c.MemoryBytes})
	if err != nil {
		return nil, err
	}
	a := &Archive{config: c, target: target, postgres: d.Postgres, ch: ch, exports: exports, log: d.Log,
		metrics: newMetrics(d.Registerer)}
	a.Loop = service.NewLoop("daily export", a.run)
	return a, nil
}

// Close closes the connections to ClickHouse, after Stop.
func (a *Archive) Close() error {
	a.exports.Close()
	return a.ch.Close()
}

func (a *Archive) run(ctx context.Context, ready func()) error {
	ready()
	for {
		if err := a.Once(ctx); err != nil && ctx.Err() == nil {
			a.metrics.failures.Inc()
			a.log.Error("the daily export failed and is tried again", "retry_in", a.config.Interval, "error", err)
		}
		if err := service.Sleep(ctx, a.config.Interval); err != nil {
			return nil //nolint:nilerr // it was stopped
		}
	}
}

// archiveLock is the key of the advisory lock that one Archive holds while it writes.
const archiveLock = 0x6c6f6465_61726368 // "lodearch"

// Once writes the days of all accounts that are complete and not written yet. If another process
// writes, it does nothing. An account that fails does not keep the others from being written.
func (a *Archive) Once(ctx context.Context) error {
	return a.postgres.Transaction(ctx, func(tx pgx.Tx) error {
		q := store.New(tx)
		if err := q.AllowIdle(ctx); err != nil {
			return fmt.Errorf("allow a long export: %w", err)
		}
		mine, err := q.TryLock(ctx, archiveLock)
		if err != nil || !mine {
			return err
		}
		if err := a.target.Check(ctx); err != nil {
			return err
		}
		accounts, err := q.ListAccounts(ctx)
		if err != nil {
			return fmt.Errorf("list accounts: %w", err)
		}
		settled, err := a.ch.Settled(ctx)
		if err != nil {
			return err
		}
		var errs []error
		for _, account := range accounts {
			if err := a.account(ctx, account.ID, settled); err != nil {
				errs = append(errs, fmt.Errorf("export account %s: %w", account.ID, err))
			}
			if ctx.Err() != nil {
				break
			}
		}
		if len(errs) == 0 {
			a.metrics.until.Set(float64(settled.Truncate(day).Unix()))
		}
		return errors.Join(errs...)
	})
}

const day = 24 * time.Hour

// account writes the days of an account.
func (a *Archive) account(ctx context.Context, account uuid.UUID, settled time.Time) error {
	manifest, err := a.readManifest(ctx, account)
	if err != nil {
		return err
	}
	until := settled.Truncate(day)
	if !manifest.CompleteUntil.Before(until) {
		return nil
	}
	days, err := Days(ctx, a.ch, account, manifest.CompleteUntil, until)
	if err != nil {
		return err
	}
	for _, d := range days {
		file, err := a.writeDay(ctx, account, d, settled)
		if err != nil {
			return err
		}
		manifest.Files, manifest.CompleteUntil = append(manifest.Files, file), d.Add(day)
		if err := a.writeManifest(ctx, manifest); err != nil {
			return err
		}
	}
	if manifest.CompleteUntil.Equal(until) || len(manifest.Files) == 0 {
		return nil
	}
	manifest.CompleteUntil = until
	return a.writeManifest(ctx, manifest)
}

type metrics struct {
	files, bytes, failures prometheus.Counter
	until                  prometheus.Gauge
}

func newMetrics(to prometheus.Registerer) *metrics {
	m := &metrics{
		files: prometheus.NewCounter(prometheus.CounterOpts{Name: "lodestone_archive_files_total",
			Help: "Files written by the daily export."}),
		bytes: prometheus.NewCounter(prometheus.CounterOpts{Name: "lodestone_archive_bytes_total",
			Help: "Bytes of these files."}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{Name: "lodestone_archive_failures_total",
			Help: "Runs of the daily export that failed, wholly or for an account."}),
		until: prometheus.NewGauge(prometheus.GaugeOpts{Name: "lodestone_archive_complete_until_seconds",
			Help: "Start of the first day that the daily export has not written for all accounts, in Unix time."}),
	}
	to.MustRegister(m.files, m.bytes, m.failures, m.until)
	return m
}
