// Package mirror copies lead magnets, generic links and access links from Postgres to ClickHouse,
// where the views of the database analytics show them to SQL users. ClickHouse therefore needs no
// connection to Postgres, and no password of it.
//
// Triggers in Postgres note the id of every entity that is created, changed or deleted, in the same
// transaction. The mirror reads the notes, copies the current state of those ids under a new
// version, and deletes the notes when ClickHouse has stored the copies. Copying twice changes
// nothing: ClickHouse keeps the highest version of an id, and versions rise in the order in which
// states were read, since one mirror of a copy of the events works at a time and takes its version
// first. While nothing changes, it polls an empty table. Every shard has all copies, beside the
// rows that are joined with them.
//
// A database that was restored to an older state does not have the notes that the copies need. So
// the mirror compares both sides at intervals, and after Postgres' cluster changed, and copies
// again what differs.
package mirror

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
	"lodestone/pkg/postgres"
	"lodestone/pkg/service"
	"lodestone/pkg/store"
)

// mirrorLock, with the number of the copy of the events, is the key of the advisory lock that one
// mirror holds while it copies.
const mirrorLock = 0x6c6f6465_6d690000 // "lodemi"

const (
	batchChanges = 10_000           // copied in one transaction
	copyTimeout  = time.Minute      // of one transaction
	purgeTimeout = 10 * time.Minute // of rewriting the access links
)

// Config holds the settings of the mirror.
type Config struct {
	Interval time.Duration `name:"sql-copy-interval" default:"5s" help:"Interval at which changed lead magnets and links are copied to ClickHouse, for the views of the database analytics."`
	Emails   bool          `name:"sql-emails" help:"Also copy email addresses and the answers of forms, for the views access_links, readers and submissions of the database analytics, with an id that is the same for all links of a person. Anyone with the SQL user's password can read them. When this is switched off again, both are removed from ClickHouse."`
}

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	if c.Interval < 10*time.Millisecond || c.Interval > 30*time.Second {
		return config.Invalid("--sql-copy-interval", "is out of range", "give a time from 10ms to 30s")
	}
	return nil
}

// Mirror is a service.Service. Any number may run: a lock in Postgres admits one at a time.
type Mirror struct {
	*service.Loop
	cfg     Config
	store   clickhouse.Config
	copy    int32 // of the events, which has the rows that are joined with the mirror's
	pool    *postgres.Pool
	queries *store.Queries
	log     *slog.Logger

	rows   prometheus.Counter
	errors prometheus.Counter
	lag    prometheus.Gauge

	differences prometheus.Counter
}

// Deps are the dependencies of the service; all are required.
type Deps struct {
	ClickHouse clickhouse.Config
	Postgres   *postgres.Pool
	Log        *slog.Logger
	Registerer prometheus.Registerer
}

// New returns the mirror's service.
func New(c Config, d Deps) *Mirror {
	m := &Mirror{
		cfg: c, store: d.ClickHouse, copy: d.ClickHouse.Number(), pool: d.Postgres,
		queries: store.New(d.Postgres.Unscoped()), log: d.Log,
		rows: prometheus.NewCounter(prometheus.CounterOpts{Name: "lodestone_mirror_rows_total",
			Help: "Rows of lead magnets and links copied to ClickHouse."}),
		errors: prometheus.NewCounter(prometheus.CounterOpts{Name: "lodestone_mirror_errors_total",
			Help: "Failed attempts to mirror lead magnets and links; they are retried."}),
		lag: prometheus.NewGauge(prometheus.GaugeOpts{Name: "lodestone_mirror_lag_seconds",
			Help: "Age of the oldest change to a lead magnet or link not yet in ClickHouse, as of the last check."}),
	}
	m.differences = prometheus.NewCounter(prometheus.CounterOpts{Name: "lodestone_mirror_differences_total",
		Help: "Groups of mirrored rows that differed from Postgres and were copied again."})
	d.Registerer.MustRegister(m.rows, m.errors, m.lag, m.differences)
	m.Loop = service.NewLoop("mirror", m.run)
	return m
}

// run copies changes until ctx ends.
func (m *Mirror) run(ctx context.Context, ready func()) (err error) {
	conn, err := clickhouse.Open(m.store, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	ready()
	ticker := time.NewTicker(m.cfg.Interval)
	defer ticker.Stop()
	prepared, failing := false, false
	for {
		err := errors.Join(m.round(ctx, conn, &prepared), m.measure(ctx))
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			m.errors.Inc()
			if !failing { // once an outage, not at every attempt
				m.log.Warn("the mirror of lead magnets and links in ClickHouse falls behind, will try again", "error", err)
			}
		case failing:
			m.log.Info("the mirror of lead magnets and links in ClickHouse catches up again")
		}
		failing = err != nil
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// round copies all pending changes.
func (m *Mirror) round(ctx context.Context, conn driver.Conn, prepared *bool) error {
	if !*prepared {
		mine, err := m.prepare(ctx, conn)
		if err != nil || !mine {
			return err // another mirror works: nothing to do
		}
		*prepared = true
	}
	if err := m.compare(ctx, conn); err != nil {
		return err
	}
	for {
		n, err := m.copyBatch(ctx, conn)
		if err != nil {
			return err
		}
		if n < batchChanges {
			break
		}
	}
	return m.purge(ctx, conn)
}

// prepare notes every id of an entity without any copy in ClickHouse, for example in a new
// ClickHouse, and the access links if the setting of their addresses changed.
func (m *Mirror) prepare(ctx context.Context, conn driver.Conn) (mine bool, err error) {
	return m.locked(ctx, copyTimeout, func(ctx context.Context, tx pgx.Tx) error {
		for _, e := range entities() {
			err := clickhouse.EachShard(conn, func(shard driver.Conn) error {
				var rows uint64
				if err := shard.QueryRow(ctx, "SELECT count() FROM lodestone."+e.table).Scan(&rows); err != nil {
					return fmt.Errorf("count copies of %s: %w", e.table, err)
				}
				if rows > 0 {
					return nil
				}
				return wrap(store.New(tx).NoteAllEntities(ctx, store.NoteAllEntitiesParams{Copy: m.copy, Entity: e.table}),
					"note all "+e.table)
			})
			if err != nil {
				return err
			}
		}
		changed, err := store.New(tx).SetCopiesEmails(ctx, m.cfg.Emails)
		if err != nil {
			return fmt.Errorf("set whether addresses are copied: %w", err)
		}
		if changed == 0 {
			return nil
		}
		for _, table := range withAddresses() {
			if err := store.New(tx).NoteAllEntitiesEverywhere(ctx, table); err != nil {
				return fmt.Errorf("note all %s: %w", table, err)
			}
		}
		return nil
	})
}

// withAddresses are the copies that have addresses, if these are copied.
func withAddresses() []string { return []string{"access_links", "submissions"} }

// purge removes addresses from ClickHouse's disk after copying them was switched off and all links
// were copied without them: merging leaves only the last version of each.
func (m *Mirror) purge(ctx context.Context, conn driver.Conn) error {
	due, err := m.queries.PurgeDue(ctx, m.copy)
	if err != nil || !due {
		return wrap(err, "look whether addresses are to be removed")
	}
	merge, cancel := context.WithTimeout(ctx, purgeTimeout)
	defer cancel()
	for _, table := range withAddresses() {
		err := clickhouse.EachShard(conn, func(shard driver.Conn) error {
			return shard.Exec(merge, "OPTIMIZE TABLE lodestone."+table+" FINAL")
		})
		if err != nil {
			return fmt.Errorf("remove addresses from ClickHouse: %w", err)
		}
	}
	return wrap(m.queries.EndPurge(ctx, m.copy), "note that addresses are removed")
}

func (m *Mirror) measure(ctx context.Context) error {
	seconds, err := m.queries.MirrorLag(ctx, m.copy)
	if err != nil {
		return fmt.Errorf("look for changes to copy: %w", err)
	}
	m.lag.Set(seconds)
	return nil
}
